"""Mark releases as failed whose job ended without reporting a result."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.releases import service
from dynabench.benchmark.releases.tables import Release, ReleaseState
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

LOST_JOB = _("The job was begun many times and never ended. Release it again; the operator's log has more.")


def tidy(database: Database, settings: Settings) -> None:
    """Mark releases as failed that no job works on any more."""
    going = database.read(_running_jobs)
    for job in jobs.given_up(database, settings, list(going)):
        database.write(service.fail_release, going[job], LOST_JOB)


def _running_jobs(session: Session) -> dict[str, int]:
    rows = session.execute(
        select(Release.job_id, Release.id).where(Release.state.in_((ReleaseState.QUEUED, ReleaseState.WRITING)))
    )
    return {job: id for job, id in rows if job}
