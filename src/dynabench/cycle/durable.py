"""Run a turn as a durable job: close, release, train, evaluate, decide, open. A step skips what is done already."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.benchmark.releases import release_steps
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.cycle import deciding, queries, round_steps, service, training
from dynabench.cycle.tables import CycleTurn
from dynabench.kit import errors, jobs
from dynabench.kit.compute_lock import TURNS
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import serving
from dynabench.rounds.tables import Round

POLL_SECONDS = 0.5
"""Seconds between two looks at evaluations, or at a release that another job makes."""
SERVING_TIMEOUT = 300.0
"""Seconds that the opening of the next round waits for its models."""
Result = dict[str, Any]


def _step(name: str) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Make a function a durable step. A pause or a problem becomes the step's result; a problem makes the turn fail."""

    def decorate(work: Callable[..., Result]) -> Callable[..., Result]:
        @DBOS.step(name=f"turn_cycle.{name}", retries_allowed=True)
        @wraps(work)
        def step(turn: int, attempt: int, *arguments: int) -> Result:
            try:
                return work(turn, attempt, *arguments)
            except service.TurnStopped:
                return {"stopped": "paused"}
            except errors.Problem as problem:
                jobs.database().write(service.fail_turn, turn, attempt, problem.detail)
                return {"stopped": "failed", "reason": problem.detail}

        return step

    return decorate


def turn_cycle(payload: dict[str, Any]) -> Result:
    """Run the workflow of a turn. `payload` names the `turn` and the `attempt`; the result says how it ended."""
    turn, attempt = int(payload["turn"]), int(payload["attempt"])
    for step in (close_round, release_round):
        if "stopped" in (result := step(turn, attempt)):
            return result
    while "candidate" in (result := next_candidate(turn, attempt)):
        if "stopped" in (result := train_candidate(turn, attempt, result["candidate"])):
            return result
    if "stopped" in result:
        return result
    for step in (wait_for_evaluations, decide_turn, open_next_round):
        if "stopped" in (result := step(turn, attempt)):
            return result
    return result


def _report_step(turn: int, attempt: int, step: str, activity: str, done: int = 0, total: int = 0) -> None:
    jobs.database().write(service.enter_step, turn, attempt, step)
    DBOS.set_event("progress", {"step": step, "what": activity, "done": done, "of": total})


@_step("close")
def close_round(turn: int, attempt: int) -> Result:
    """Close the turn's round."""
    _report_step(turn, attempt, "close", "Closing the round")
    jobs.database().write(round_steps.close_round, turn, attempt)
    return {}


@_step("release")
def release_round(turn: int, attempt: int) -> Result:
    """Release the turn's round."""
    _report_step(turn, attempt, "release", "Dividing the examples and writing the files")
    write_release(jobs.database(), get_settings(), turn, attempt)
    return {}


@_step("waiting")
def next_candidate(turn: int, attempt: int) -> Result:
    """Return the next candidate to be trained, if there is one."""
    positions = jobs.database().read(training.waiting_positions, turn, attempt)
    return {"candidate": positions[0]} if positions else {}


@_step("train")
def train_candidate(turn: int, attempt: int, position: int) -> Result:
    """Train a candidate, check it and submit it."""
    db = jobs.database()
    total = len(db.read(lambda session: session.scalars(queries.candidates_of_turn(turn)).all()))
    _report_step(turn, attempt, "train", "Waiting for a processor", position, total)

    def report_progress(text: str) -> None:
        DBOS.set_event("progress", {"step": "train", "what": text, "done": position, "of": total})

    with TURNS.shared(lambda: db.read(service.require_running, turn, attempt)):
        return {"state": training.train_candidate(db, get_settings(), turn, attempt, position, report_progress)}


@_step("evaluate")
def wait_for_evaluations(turn: int, attempt: int) -> Result:
    """Wait until the present targets and the candidates are evaluated on all rounds."""
    db, settings = jobs.database(), get_settings()
    _report_step(turn, attempt, "evaluate", "Evaluating")
    old = db.write(training.present_submissions, turn, attempt)
    new = [item.submission_id for item in db.read(lambda s: s.scalars(queries.candidates_of_turn(turn)).all())]
    submissions = sorted({*old.values(), *(item for item in new if item is not None)})
    db.write(deciding.queue_evaluations, submissions)
    seen = -1
    while True:
        db.read(service.running_turn, turn, attempt)
        remaining, total = db.read(deciding.count_remaining, settings, turn, submissions)
        if not remaining:
            return {}
        if remaining != seen:
            progress = {"step": "evaluate", "what": "Evaluating", "done": total - remaining, "of": total}
            DBOS.set_event("progress", progress)
            seen = remaining
        time.sleep(POLL_SECONDS)


@_step("decide")
def decide_turn(turn: int, attempt: int) -> Result:
    """Apply the rule of promotion."""
    _report_step(turn, attempt, "decide", "Comparing")
    deciding.decide_turn(jobs.database(), get_settings(), turn, attempt)
    return {}


@_step("open")
def open_next_round(turn: int, attempt: int) -> Result:
    """Open the next round and end the turn, in one transaction."""
    _report_step(turn, attempt, "open", "Opening the next round")
    _until_served(turn, attempt)

    def finish(session: Any) -> int:
        number = round_steps.next_round(session, get_settings(), turn, attempt)
        service.finish_turn(session, turn, attempt)
        return number

    return {"round": jobs.database().write(finish)}


def _until_served(turn: int, attempt: int) -> None:
    """Wait until all hosts serve the next round's targets. Raises `Unavailable` after `SERVING_TIMEOUT` seconds; the
    turn can be resumed."""
    db, settings = jobs.database(), get_settings()
    until = time.monotonic() + SERVING_TIMEOUT
    while refusal := serving.opening_refusal(settings, db.read(round_steps.models_to_open, turn, attempt)):
        if time.monotonic() >= until:
            raise refusal
        DBOS.set_event("progress", {"step": "open", "what": refusal.detail, "done": 0, "of": 0})
        time.sleep(serving.RETRY_SECONDS)


def write_release(db: Database, settings: Settings, turn: int, attempt: int) -> None:
    """Release the turn's round. Each step skips what an earlier attempt has done. Raises `Problem`."""
    release_id = db.write(_begin_release, turn, attempt)
    while release_id is None:  # an owner released the round by hand
        time.sleep(POLL_SECONDS)
        release_id = db.write(_begin_release, turn, attempt)
    try:
        with TURNS.shared(lambda: db.read(service.require_running, turn, attempt)):
            release_steps.freeze_round(db, settings, release_id)
            plan = release_steps.write_files(db, settings, release_id)
            written = release_steps.store_datasets(db, settings, release_id)
        db.write(releases.finish_release, release_id, plan, *written)
    except errors.Problem as problem:
        db.write(releases.fail_release, release_id, problem.detail)
        raise


def _begin_release(session: Session, turn: int, attempt: int) -> int | None:
    """Return the id of the round's release, begun if it is not yet; None while another job makes it."""
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    round_ = session.get_one(Round, cycle_turn.round_id)
    current: Release | None = releases.release_of_round(session, cycle_turn.task_id, round_.number)
    if current is not None and current.state in (ReleaseState.QUEUED, ReleaseState.WRITING) and current.job_id:
        return None
    if current is None or current.state == ReleaseState.FAILED:
        plan = service.turn_plan(cycle_turn)
        rules = releases.release_rules(session, cycle_turn.task_id, round_.number, plan.release)
        if session.scalar(queries.any_example(round_.id)) is None:
            raise errors.Conflict(
                _("Nothing was collected in round %(number)s, so there is nothing to release.", number=round_.number)
            )
        person = service.acting_owner(session, cycle_turn)
        current = releases.prepare_release(session, person, cycle_turn.task_id, round_.number, rules, plan.anyway)
        current.job_id = None
    return current.id


LOST_JOB = _("The job was started many times and never finished. Resume the turn; the operator's log has details.")


def fail_lost_turns(database: Database, settings: Settings) -> None:
    """Mark turns as failed that no job works on any more."""
    going = {job: turn for job, turn in database.read(_running_jobs) if job}
    for job in jobs.given_up(database, settings, list(going)):
        database.write(_lost, going[job], job)


def _running_jobs(session: Session) -> list[tuple[str | None, int]]:
    return [(job, turn) for job, turn in session.execute(queries.running_jobs())]


def _lost(session: Session, turn: int, job: str) -> None:
    cycle_turn = session.get_one(CycleTurn, turn, with_for_update=True)
    if cycle_turn.job_id == job:
        service.fail_turn(session, turn, cycle_turn.attempt, LOST_JOB)
