"""The worker's periodic check of openings and closings of rounds whose job failed or was lost."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.jobs import Job
from dynabench.kit.settings import Settings
from dynabench.rounds import planning, queries, timing
from dynabench.rounds.tables import Round

EVENTS = {"draft": "opens_at", "open": "closes_at"}
"""The planned moment that a round in each state waits for."""
LONGEST_PAUSE = timedelta(hours=1)
"""Between two tries of what fails for ever; before, each comes after about as long as the one before it."""


def tidy(database: Database, settings: Settings) -> None:
    """Ask again for openings and closings that are due and that no job will carry out."""
    for round_id, job in database.read(_overdue).items():
        if job is None or jobs.given_up(database, settings, [job]):
            database.write(_again, round_id, job)


def _overdue(session: Session) -> dict[int, str | None]:
    """Rounds whose moment has come, with the job that was asked for it last, where that has had its time."""
    found = {}
    for of in session.scalars(queries.rounds_to_turn()):
        at = _moment(of)
        if at is None or at > now():
            continue
        job = _last(session, of, at)
        pause = min((now() - at) / 2, LONGEST_PAUSE)
        if job is None or (job.sent_at is not None and now() - job.sent_at >= pause):
            found[of.id] = job.id if job else None
    return found


def _moment(of: Round) -> datetime | None:
    moment: datetime | None = getattr(planning.plan_of(of), EVENTS[of.state])
    return moment


def _last(session: Session, of: Round, at: datetime) -> Job | None:
    wanted = {"event": EVENTS[of.state], "at": at.isoformat()}
    asked = session.scalars(queries.turns_of_round(of.id))
    return next((job for job in asked if wanted.items() <= job.payload.items()), None)


def _again(session: Session, round_id: int, job: str | None) -> None:
    of = session.get(Round, round_id, with_for_update=True)
    if of is None or of.state not in EVENTS:
        return
    at = _moment(of)
    if at is None or at > now():
        return
    last = _last(session, of, at)
    if (last.id if last else None) == job:
        timing.schedule(session, last.person_id if last else None, of, EVENTS[of.state], at)
