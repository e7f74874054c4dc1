"""Mark turns as failed whose job ended without reporting a result."""

from sqlalchemy.orm import Session

from dynabench.cycle import queries, service
from dynabench.cycle.tables import CycleTurn
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

LOST_JOB = _("The job was started many times and never finished. Resume the turn; the operator's log has details.")


def tidy(database: Database, settings: Settings) -> None:
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
