"""The worker's periodic check of openings and closings of rounds whose job failed or was lost."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.jobs import Job
from dynabench.kit.settings import Settings
from dynabench.rounds import planning, queries, service
from dynabench.rounds.tables import Round

AWAITED_EVENTS = {"draft": "opens_at", "open": "closes_at"}
"""The planned moment that a round in each state waits for."""
LONGEST_PAUSE = timedelta(hours=1)
"""Between two tries of what fails for ever; before, each comes after about as long as the one before it."""


def tidy(database: Database, settings: Settings) -> None:
    """Ask again for openings and closings that are due and that no job will carry out."""
    for round_id, job in database.read(_overdue_rounds).items():
        if job is None or jobs.given_up(database, settings, [job]):
            database.write(_ask_again, round_id, job)


def _overdue_rounds(session: Session) -> dict[int, str | None]:
    """Rounds whose moment has come, with the job that was asked for it last, where that has had its time."""
    overdue = {}
    for round_ in session.scalars(queries.rounds_to_turn()):
        at = _moment(round_)
        if at is None or at > now():
            continue
        job = _last_job(session, round_, at)
        pause = min((now() - at) / 2, LONGEST_PAUSE)
        if job is None or (job.sent_at is not None and now() - job.sent_at >= pause):
            overdue[round_.id] = job.id if job else None
    return overdue


def _moment(round_: Round) -> datetime | None:
    moment: datetime | None = getattr(planning.plan_of(round_), AWAITED_EVENTS[round_.state])
    return moment


def _last_job(session: Session, round_: Round, at: datetime) -> Job | None:
    expected = {"event": AWAITED_EVENTS[round_.state], "at": at.isoformat()}
    turns = session.scalars(queries.turns_of_round(round_.id))
    return next((job for job in turns if expected.items() <= job.payload.items()), None)


def _ask_again(session: Session, round_id: int, job: str | None) -> None:
    round_ = session.get(Round, round_id, with_for_update=True)
    if round_ is None or round_.state not in AWAITED_EVENTS:
        return
    at = _moment(round_)
    if at is None or at > now():
        return
    last = _last_job(session, round_, at)
    if (last.id if last else None) == job:
        service.schedule_turn(session, last.person_id if last else None, round_, AWAITED_EVENTS[round_.state], at)
