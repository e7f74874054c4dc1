"""The first steps of a turn: its round closes and is released."""

import time

from sqlalchemy.orm import Session

from dynabench.benchmark.releases import release_steps
from dynabench.benchmark.releases import service as releases
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.cycle import queries, service
from dynabench.kit import errors
from dynabench.kit.compute_lock import TURNS
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState

POLL = 0.5


def close_round(session: Session, turn: int, attempt: int) -> None:
    """Close the turn's round, with the turn's moment as its time; a round that is closed already stays as it is."""
    cycle_turn = service.running_turn(session, turn, attempt, lock=True)
    round_ = session.get_one(Round, cycle_turn.round_id)
    if round_.state == RoundState.OPEN:
        closed = rounds.close_round(
            session, service.acting_owner(session, cycle_turn), cycle_turn.task_id, round_.number
        )
        closed.closed_at = service.product_time(cycle_turn)


def release_round(db: Database, settings: Settings, turn: int, attempt: int) -> None:
    """Release the turn's round. Each step skips what an earlier attempt has done. Raises `Problem`."""
    release_id = db.write(_begin, turn, attempt)
    while release_id is None:  # somebody else released the round by hand
        time.sleep(POLL)
        release_id = db.write(_begin, turn, attempt)
    try:
        with TURNS.shared(lambda: db.read(service.require_running, turn, attempt)):
            release_steps.freeze_round(db, settings, release_id)
            plan = release_steps.write_files(db, settings, release_id)
            written = release_steps.store_datasets(db, settings, release_id)
        db.write(releases.finish_release, release_id, plan, *written)
    except errors.Problem as problem:
        db.write(releases.fail_release, release_id, problem.detail)
        raise


def _begin(session: Session, turn: int, attempt: int) -> int | None:
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
