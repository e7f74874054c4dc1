"""Turns whose job ended without a word are told as failed."""

from sqlalchemy.orm import Session

from dynabench import jobs
from dynabench.cycle import queries, service
from dynabench.cycle.tables import CycleTurn
from dynabench.db import Database
from dynabench.language import _
from dynabench.settings import Settings

LOST = _("The job was begun many times and never ended. Resume the turn; the operator's log has more.")


def tidy(database: Database, settings: Settings) -> None:
    """Let turns fail that no job makes any more."""
    going = {job: turn for job, turn in database.read(_going) if job}
    for job in jobs.given_up(database, settings, list(going)):
        database.write(_lost, going[job], job)


def _going(session: Session) -> list[tuple[str | None, int]]:
    return [(job, turn) for job, turn in session.execute(queries.going())]


def _lost(session: Session, turn: int, job: str) -> None:
    found = session.get_one(CycleTurn, turn, with_for_update=True)
    if found.job_id == job:
        service.fail(session, turn, found.attempt, LOST)
