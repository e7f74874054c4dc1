"""Cancelling jobs and running them again, by way of what they are about where that notes how its job ended."""

from contextlib import suppress

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import service as evaluations
from dynabench.benchmark.registry import submissions
from dynabench.kit import errors, job_control
from dynabench.kit.db import Database
from dynabench.kit.job_control import JobStatus
from dynabench.kit.jobs import JobState
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.service import record_act
from dynabench.people.accounts.tables import Person

ABOUT = {"evaluate": "evaluation", "check_submission": "submission"}
"""Kinds whose evaluation or submission is cancelled and run again; its number is this member of the payload."""


def may_cancel(status: JobStatus) -> bool:
    """Return whether an administrator may cancel a job."""
    return status.may_cancel


def may_retry(status: JobStatus) -> bool:
    """Return whether an administrator may run a job again."""
    ended = status.state in (JobState.FAILED, JobState.CANCELLED)
    return status.may_retry or (ended and status.job.kind in ABOUT)


def act_on_job(database: Database, settings: Settings, admin: Person, id: str, act: str) -> None:
    """Cancel a job (`cancel`) or run it again (`retry`); recorded in the audit log. Raises `Conflict`."""
    if act not in ("cancel", "retry"):
        raise errors.NotFound(_("There is no such action."))
    status = job_control.job_status(database, settings, id)
    if act == "retry" and status.job.kind in ABOUT:
        database.write(_retry_about, settings, admin, status)
    elif act == "retry":
        job_control.retry_job(database, settings, id)
    else:
        if status.job.kind in ABOUT:
            database.write(_cancel_about, admin, status)
        job_control.cancel_job(database, settings, id)
    subject = {"job": id, "kind": status.job.kind}
    database.write(lambda session: record_act(session, admin.id, f"job.{act}", subject))


def _cancel_about(session: Session, admin: Person, status: JobStatus) -> None:
    number = int(status.job.payload[ABOUT[status.job.kind]])
    with suppress(errors.Conflict):  # it has ended in the meantime, and the job alone is left
        if status.job.kind == "evaluate":
            evaluations.cancel_evaluation(session, admin, number)
        else:
            submissions.cancel_check(session, admin, number)


def _retry_about(session: Session, settings: Settings, admin: Person, status: JobStatus) -> None:
    number = int(status.job.payload[ABOUT[status.job.kind]])
    if status.job.kind == "evaluate":
        evaluations.retry_evaluation(session, admin, number)
    else:
        submissions.retry_check(session, settings, admin, number)
