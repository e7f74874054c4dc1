"""Signals of new examples: a durable job for each task, and the removal of old digests of devices."""

from datetime import timedelta
from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.collection.writing_facts import DAYS
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings
from dynabench.quality.signals import computing, queries, service


@DBOS.step(name="compute_signals.some", retries_allowed=True)
def compute_some(task: str) -> int:
    """Compute the signals of some examples in one transaction; return how many examples there were."""
    return jobs.database().write(computing.compute_some, task)


@DBOS.step(name="compute_signals.release", retries_allowed=True)
def release(task: str, job_id: str) -> None:
    """Forget the job, so that the next examples get one."""
    jobs.database().write(service.release_job, task, job_id)


def compute_signals(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow; `payload` names the `task`."""
    examples = 0
    while count := compute_some(payload["task"]):
        examples += count
    release(payload["task"], str(DBOS.workflow_id))
    return {"examples": examples}


def compute_new_signals(database: Database, settings: Settings) -> None:
    """Enqueue the signals of new examples, forget jobs that were given up, and remove old digests of devices."""
    rows = database.read(lambda session: session.execute(queries.running_jobs()).all())
    running = {str(job_id): task for job_id, task in rows}
    for job_id in jobs.given_up(database, settings, list(running)):
        database.write(service.release_job, running[job_id], job_id)
    for task in database.read(lambda session: session.scalars(queries.tasks_with_unchecked_facts()).all()):
        database.write(service.enqueue_signals, task)
    database.write(_forget_devices)


def _forget_devices(session: Session) -> None:
    session.execute(queries.forget_devices(now() - timedelta(days=DAYS)))
