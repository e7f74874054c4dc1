"""A turn as a durable job: close, release, train, evaluate, decide, open. What was done is found done."""

import time
from collections.abc import Callable
from typing import Any

from dbos import DBOS

from dynabench import errors, jobs
from dynabench.cycle import closing, deciding, opening, queries, scores, service, training
from dynabench.models import serving
from dynabench.settings import get_settings
from dynabench.turns import TURNS

POLL = 0.5
"""Seconds between two looks at how evaluations go."""
PATIENCE = 300.0
"""Seconds that the opening of the next round waits for its models."""
Result = dict[str, Any]


def turn_cycle(payload: dict[str, Any]) -> Result:
    """The workflow: `payload` names the `turn` and which `attempt` at it this is. The result says how it ended."""
    turn, attempt = int(payload["turn"]), int(payload["attempt"])
    for step in (close, release):
        if "stopped" in (result := step(turn, attempt)):
            return result
    while "candidate" in (result := waiting(turn, attempt)):
        if "stopped" in (result := train(turn, attempt, result["candidate"])):
            return result
    if "stopped" in result:
        return result
    for step in (evaluate, decide, begin_next):
        if "stopped" in (result := step(turn, attempt)):
            return result
    return result


def _tried(turn: int, attempt: int, work: Callable[[], Result]) -> Result:
    """What a step does; where it cannot go on, that is its result, and the turn fails for what has a reason."""
    try:
        return work()
    except service.Stopped:
        return {"stopped": "paused"}
    except errors.Problem as problem:
        jobs.database().write(service.fail, turn, attempt, problem.detail)
        return {"stopped": "failed", "reason": problem.detail}


def _at(turn: int, attempt: int, step: str, what: str, done: int = 0, of: int = 0) -> None:
    jobs.database().write(service.begin, turn, attempt, step)
    DBOS.set_event("progress", {"step": step, "what": what, "done": done, "of": of})


@DBOS.step(name="turn_cycle.close", retries_allowed=True)
def close(turn: int, attempt: int) -> Result:
    """Close the round."""

    def work() -> Result:
        _at(turn, attempt, "close", "Closing the round")
        jobs.database().write(closing.close, turn, attempt)
        return {}

    return _tried(turn, attempt, work)


@DBOS.step(name="turn_cycle.release", retries_allowed=True)
def release(turn: int, attempt: int) -> Result:
    """Release it."""

    def work() -> Result:
        _at(turn, attempt, "release", "Dividing the examples and writing the files")
        closing.release(jobs.database(), get_settings(), turn, attempt)
        return {}

    return _tried(turn, attempt, work)


@DBOS.step(name="turn_cycle.waiting", retries_allowed=True)
def waiting(turn: int, attempt: int) -> Result:
    """The next candidate to be trained, if there is one."""

    def work() -> Result:
        left = jobs.database().read(training.waiting, turn, attempt)
        return {"candidate": left[0]} if left else {}

    return _tried(turn, attempt, work)


@DBOS.step(name="turn_cycle.train", retries_allowed=True)
def train(turn: int, attempt: int, position: int) -> Result:
    """Train a candidate, check it and enter it."""

    def work() -> Result:
        db = jobs.database()
        of = len(db.read(lambda session: session.scalars(queries.candidates(turn)).all()))
        _at(turn, attempt, "train", "Waiting for a processor", position, of)

        def heard(text: str) -> None:
            DBOS.set_event("progress", {"step": "train", "what": text, "done": position, "of": of})

        with TURNS.shared(lambda: db.read(service.go_on, turn, attempt)):
            return {"state": training.train(db, get_settings(), turn, attempt, position, heard)}

    return _tried(turn, attempt, work)


@DBOS.step(name="turn_cycle.evaluate", retries_allowed=True)
def evaluate(turn: int, attempt: int) -> Result:
    """Wait until present targets and candidates are evaluated on all rounds."""

    def work() -> Result:
        db, settings = jobs.database(), get_settings()
        _at(turn, attempt, "evaluate", "Evaluating")
        old = db.write(training.present, turn, attempt)
        new = [each.submission_id for each in db.read(lambda s: s.scalars(queries.candidates(turn)).all())]
        submissions = sorted({*old.values(), *(each for each in new if each is not None)})
        db.write(scores.ask, submissions)
        seen = -1
        while True:
            db.read(service.mine, turn, attempt)
            left, of = db.read(scores.left, settings, turn, submissions)
            if not left:
                return {}
            if left != seen:
                progress = {"step": "evaluate", "what": "Evaluating", "done": of - left, "of": of}
                DBOS.set_event("progress", progress)
                seen = left
            time.sleep(POLL)

    return _tried(turn, attempt, work)


@DBOS.step(name="turn_cycle.decide", retries_allowed=True)
def decide(turn: int, attempt: int) -> Result:
    """Apply the rule."""

    def work() -> Result:
        _at(turn, attempt, "decide", "Comparing")
        deciding.decide(jobs.database(), get_settings(), turn, attempt)
        return {}

    return _tried(turn, attempt, work)


@DBOS.step(name="turn_cycle.open", retries_allowed=True)
def begin_next(turn: int, attempt: int) -> Result:
    """Open the next round, and let the turn be done, in one transaction."""

    def work() -> Result:
        _at(turn, attempt, "open", "Opening the next round")
        _until_served(turn, attempt)

        def finish(session: Any) -> int:
            number = opening.next_round(session, get_settings(), turn, attempt)
            service.end(session, turn, attempt)
            return number

        return {"round": jobs.database().write(finish)}

    return _tried(turn, attempt, work)


def _until_served(turn: int, attempt: int) -> None:
    """Wait until all hosts serve the next round's targets; raises `Unavailable` where that takes too long, and the turn
    can be resumed."""
    db, settings = jobs.database(), get_settings()
    until = time.monotonic() + PATIENCE
    while refusal := serving.opening_refusal(settings, db.read(opening.models_to_open, turn, attempt)):
        if time.monotonic() >= until:
            raise refusal
        DBOS.set_event("progress", {"step": "open", "what": refusal.detail, "done": 0, "of": 0})
        time.sleep(serving.RETRY_SECONDS)
