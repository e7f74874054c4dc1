"""A periodic task of the worker: rounds that changed are measured again."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from dynabench.collection import folding
from dynabench.insight.data_measurements import queries, service
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.rates import FEW_ROWS

FRESH = timedelta(minutes=15)
"""Least time between two measurements of an open round."""


def tidy(database: Database, settings: Settings) -> None:
    """Enqueue measurements of rounds that changed, and forget jobs that were given up."""
    jobs_in_progress = database.read(_jobs_in_progress)
    for job in jobs.given_up(database, settings, list(jobs_in_progress)):
        database.write(service.release_job, jobs_in_progress[job], job)
    for round_id in database.read(_rounds_to_measure, now()):
        database.write(_enqueue, round_id)


def _jobs_in_progress(session: Session) -> dict[str, int]:
    rows = session.execute(queries.started_rounds())
    return {stored.job_id: stored.round_id for _, stored in rows if stored is not None and stored.job_id}


def _rounds_to_measure(session: Session, at: datetime) -> list[int]:
    """Rounds with enough examples to say something that changed since they were measured."""
    round_ids = []
    for round_, stored in session.execute(queries.started_rounds()):
        waits = stored is not None and stored.job_id is not None
        young = (
            stored is not None and stored.at is not None and round_.state == RoundState.OPEN and at - stored.at < FRESH
        )
        settled = stored is not None and stored.state == service.round_state(session, round_)
        if not (waits or young or settled) and _has_enough_examples(session, round_):
            round_ids.append(round_.id)
    return round_ids


def _has_enough_examples(session: Session, round_: Round) -> bool:
    rows = folding.read(session, round_.id, ["all"]).get(("all", ""))
    return rows is not None and int(rows["examples"].sum()) >= FEW_ROWS


def _enqueue(session: Session, round_id: int) -> None:
    service.enqueue_measurement(session, session.get_one(Round, round_id))
