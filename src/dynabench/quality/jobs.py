"""Estimates of annotator quality and verdicts that follow a round's rule: durable jobs."""

from datetime import timedelta
from typing import Any

from dbos import DBOS
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.quality import queries, service, verdict_rules
from dynabench.quality.tables import QualityEstimate
from dynabench.rounds.tables import Task

FRESH = timedelta(minutes=15)
"""Least time between two computations of a task's estimates that nobody asked for."""


@DBOS.step(name="estimate_quality.compute", retries_allowed=True)
def compute(task: str) -> int:
    """Compute and store the estimates of a task, once more after a crash; return the number of rounds with votes."""
    db = jobs.database()
    if db.read(lambda session: session.get(Task, task)) is None:
        return 0
    votes = db.read(service.read_votes, task)
    results = service.compute_estimates(votes)
    newest = max((cast.id for cast_votes, _ in votes.values() for cast in cast_votes), default=0)
    db.write(service.store_estimates, task, results, newest)
    return len(votes)


def estimate_quality(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` names the `task`."""
    return {"rounds": compute(payload["task"])}


@DBOS.step(name="weigh_votes.some", retries_allowed=True)
def weigh_some(job_id: str, round_id: int) -> bool:
    """Make some verdicts follow the round's rule, in one transaction with the count of how far it came."""
    return jobs.database().write(verdict_rules.weigh_some, job_id, round_id)


def weigh_votes(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` has the id of the `round`."""
    job_id = str(DBOS.workflow_id)
    while weigh_some(job_id, payload["round"]):
        pass
    return {}


def estimate_changed_tasks(database: Database, settings: Settings) -> None:
    """Enqueue estimates of tasks with new votes, and forget jobs that were given up."""
    waiting = database.read(_jobs_in_progress)
    for job_id in jobs.given_up(database, settings, list(waiting)):
        database.write(service.release_job, waiting[job_id], job_id)
    for task_id in database.read(_tasks_to_estimate):
        database.write(service.enqueue_estimates, task_id)


def _jobs_in_progress(session: Session) -> dict[str, str]:
    rows = select(QualityEstimate.job_id, QualityEstimate.task_id).where(QualityEstimate.job_id.is_not(None))
    return {str(job_id): task_id for job_id, task_id in session.execute(rows)}


def _tasks_to_estimate(session: Session) -> list[str]:
    due = []
    for task_id, newest in session.execute(queries.tasks_with_new_votes()):
        stored = session.get(QualityEstimate, (task_id, service.TOGETHER))
        young = stored is not None and stored.at is not None and now() - stored.at < FRESH
        waits = stored is not None and stored.job_id is not None
        if not (young or waits) and (stored is None or newest > stored.last_vote):
            due.append(task_id)
    return due
