"""The first steps of a turn: its round closes and is released."""

import time

from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.cycle import queries, service
from dynabench.db import Database
from dynabench.language import _
from dynabench.releases import making
from dynabench.releases import service as releases
from dynabench.releases.tables import Release, ReleaseState
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.settings import Settings
from dynabench.turns import TURNS

POLL = 0.5


def close(session: Session, turn: int, attempt: int) -> None:
    """Close the turn's round, as of the turn's moment; one that is closed stays as it is."""
    found = service.mine(session, turn, attempt, lock=True)
    of = session.get_one(Round, found.round_id)
    if of.state == RoundState.OPEN:
        made = rounds.close_round(session, service.actor(session, found), found.task_id, of.number)
        made.closed_at = service.moment_of(found)


def release(db: Database, settings: Settings, turn: int, attempt: int) -> None:
    """Release the turn's round, step by step, each of which is found done after a crash. Raises `Problem`."""
    id = db.write(_begin, turn, attempt)
    while id is None:  # somebody else released the round by hand
        time.sleep(POLL)
        id = db.write(_begin, turn, attempt)
    try:
        with TURNS.shared(lambda: db.read(service.go_on, turn, attempt)):
            making.freeze(db, settings, id)
            made = making.write(db, settings, id)
            written = making.datasets(db, settings, id)
        db.write(releases.finish, id, made, *written)
    except errors.Problem as problem:
        db.write(releases.fail, id, problem.detail)
        raise


def _begin(session: Session, turn: int, attempt: int) -> int | None:
    """The release of the turn's round, begun if it is not yet; None while another job makes it."""
    found = service.mine(session, turn, attempt, lock=True)
    of = session.get_one(Round, found.round_id)
    made: Release | None = releases.of_round(session, found.task_id, of.number)
    if made is not None and made.state in (ReleaseState.QUEUED, ReleaseState.WRITING) and made.job_id:
        return None
    if made is None or made.state == ReleaseState.FAILED:
        plan = service.plan_of(found)
        rules = releases.rules_of(session, found.task_id, of.number, plan.release)
        if session.scalar(queries.any_example(of.id)) is None:
            raise errors.Conflict(
                _("Nothing was collected in round %(number)s, so there is nothing to release.", number=of.number)
            )
        person = service.actor(session, found)
        made = releases.begin(session, person, found.task_id, of.number, rules, plan.anyway)
        made.job_id = None
    return made.id
