"""The worker's periodic check of evaluations whose job was given up, and of those that may succeed now."""

from datetime import timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries, queueing, service
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings

MAX_SPENDING_ATTEMPTS = 60
"""Attempts after which an evaluation that its limit keeps from ending is left alone."""
TEMPORARY_CODES = ("crashed", "unreachable", "cluster", "failed")
"""Reasons for failures that pass by themselves, so that the evaluation is tried again."""
RETRY_DELAYS = tuple(timedelta(hours=hours) for hours in (1, 4, 16))
"""Before each further attempt after such a failure; then it is for a person to look."""


def tidy(database: Database, settings: Settings) -> None:
    """End evaluations that no job works on any more, so that none looks as if it went on for ever."""
    database.write(_another_day)
    database.write(_another_attempt)
    going = dict(database.read(_open_jobs))
    for job in jobs.given_up(database, settings, list(going)):
        database.write(_lost, going[job], job)


def _another_day(session: Session) -> None:
    """Go on with what ended at a limit on spending of a day before (UTC); what was answered then is not paid twice."""
    today = now().replace(hour=0, minute=0, second=0, microsecond=0)
    for evaluation in session.scalars(queries.failed_before(today, ("spending",), MAX_SPENDING_ATTEMPTS)):
        queueing.run_again(session, evaluation)


def _another_attempt(session: Session) -> None:
    """Try again what failed for a cause that passes, such as an endpoint that did not answer."""
    for evaluation in session.scalars(
        queries.failed_before(now() - RETRY_DELAYS[0], TEMPORARY_CODES, len(RETRY_DELAYS) + 1)
    ):
        if evaluation.ended_at is not None and evaluation.ended_at < now() - RETRY_DELAYS[evaluation.attempt - 1]:
            queueing.run_again(session, evaluation)


def _open_jobs(session: Session) -> list[tuple[str, int]]:
    open_ones = select(Evaluation.job_id, Evaluation.id).where(Evaluation.state.in_(queries.OPEN_STATES))
    return [(job, id) for job, id in session.execute(open_ones) if job]


def _lost(session: Session, id: int, job: str) -> None:
    evaluation = session.get_one(Evaluation, id, with_for_update=True)
    if evaluation.job_id != job or evaluation.state not in queries.OPEN_STATES:
        return
    evaluation.state, evaluation.code, evaluation.ended_at = EvaluationState.FAILED, "crashed", now()
    service.announce_end(session, evaluation)
