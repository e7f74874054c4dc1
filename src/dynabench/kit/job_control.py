"""Jobs as an administrator sees and steers them: lists with states, cancelling, running again, and workers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.jobs import Job, JobState, WorkerBeat
from dynabench.kit.language import _
from dynabench.kit.settings import Settings

RESENT_KINDS = frozenset(
    {"send_mail", "call_webhook", "turn_round", "decide_participation", "pay_bonuses", "reconcile_study"}
)
"""Kinds that the worker's keepers enqueue anew: what they are about has to be ended instead of the job."""
SUFFICIENT = frozenset(
    {"import_contexts", "import_data", "export_task", "import_task", "enter_baselines", "enter_targets",
     "queue_evaluations", "tell_announcement", "mail_invitation"}
)  # fmt: skip
"""Kinds that may run again as they are; others are about something that notes how its job ended."""
ENGINE_STATES: Mapping[JobState, tuple[str, ...]] = {
    JobState.QUEUED: ("ENQUEUED", "DELAYED"),
    JobState.RUNNING: ("PENDING",),
    JobState.DONE: ("SUCCESS",),
    JobState.FAILED: ("ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"),
    JobState.CANCELLED: ("CANCELLED",),
}
_STATES = {name: state for state, names in ENGINE_STATES.items() for name in names}


@dataclass(frozen=True)
class JobStatus:
    """A job with its `JobState`, its error where it failed, and when it began and ended."""

    job: Job
    state: JobState
    error: str
    started_at: datetime | None
    ended_at: datetime | None

    @property
    def may_cancel(self) -> bool:
        """True if the job waits or runs, and cancelling it is its end."""
        return self.state in (JobState.QUEUED, JobState.RUNNING) and self.job.kind not in RESENT_KINDS

    @property
    def may_retry(self) -> bool:
        """True if the job failed or was cancelled, and running it again is all that it takes."""
        return self.state in (JobState.FAILED, JobState.CANCELLED) and self.job.kind in SUFFICIENT


@dataclass(frozen=True)
class QueueFigures:
    """Figures of the queue: jobs that are due and wait, the moment since which the oldest waits, and those at work."""

    waiting: int
    since: datetime | None
    running: int
    failed: int


def list_jobs(
    database: Database,
    settings: Settings,
    state: JobState | None = None,
    kind: str = "",
    before: datetime | None = None,
    limit: int = 50,
) -> list[JobStatus]:
    """Return jobs, newest first, created before a moment; in one state where `state` is given."""
    if state is None:
        rows = database.read(_newest, kind, before, limit, None)
    else:
        ids = _ids_in_state(settings, state, kind, before, limit)
        unsent = database.read(_unsent_ids, limit) if state == JobState.QUEUED else []
        cancelled = database.read(_cancelled_ids, limit) if state == JobState.CANCELLED else []
        rows = database.read(_newest, kind, before, limit, [*ids, *unsent, *cancelled])
    statuses = _with_states(settings, rows)
    return [status for status in statuses if state is None or status.state == state]


def job_status(database: Database, settings: Settings, id: str) -> JobStatus:
    """Return one job; raises `NotFound`."""
    job = database.read(lambda session: session.get(Job, id))
    if job is None:
        raise errors.NotFound(_("There is no such job."))
    return _with_states(settings, [job])[0]


def cancel_job(database: Database, settings: Settings, id: str) -> None:
    """End a job that waits or runs; one that runs ends after its present step. Raises `Conflict`."""
    if not job_status(database, settings, id).may_cancel:
        raise errors.Conflict(_("This job has ended, or cannot be cancelled."))
    sent = database.write(_mark_cancelled, id)
    if sent:
        jobs.engine_client(settings).cancel_workflow(id)


def retry_job(database: Database, settings: Settings, id: str) -> None:
    """Run a job again from its beginning, under the same id. Raises `Conflict`."""
    status = job_status(database, settings, id)
    if not status.may_retry:
        raise errors.Conflict(
            _("This job cannot be run again: it has not failed or been cancelled, or its kind cannot be repeated.")
        )
    database.write(_mark_retried, id, status.started_at is None)
    if status.started_at is not None:
        queue = jobs.QUEUES.get(status.job.kind, jobs.QUEUE)
        jobs.engine_client(settings).rewind_workflow(id, application_version=jobs.APPLICATION, queue_name=queue)


def queue_figures(database: Database, settings: Settings) -> QueueFigures:
    """Return the length of the queue, and how many jobs run and failed in the last day."""
    unsent, since = database.read(_due)
    quick = {"load_input": False, "load_output": False}
    waiting = _workflows(settings, status=list(ENGINE_STATES[JobState.QUEUED]), limit=1000, **quick)
    running = _workflows(settings, status=list(ENGINE_STATES[JobState.RUNNING]), limit=1000, **quick)
    day = (now() - timedelta(days=1)).isoformat()
    failed = _workflows(settings, status=list(ENGINE_STATES[JobState.FAILED]), completed_after=day, limit=1000, **quick)
    return QueueFigures(unsent + len(waiting), since, len(running), len(failed))


def list_workers(session: Session) -> Sequence[WorkerBeat]:
    """Return the workers of the last day, the last seen first."""
    return session.scalars(select(WorkerBeat).order_by(WorkerBeat.seen_at.desc())).all()


def _newest(
    session: Session, kind: str, before: datetime | None, limit: int, ids: Sequence[str] | None
) -> Sequence[Job]:
    statement = select(Job).order_by(Job.created_at.desc(), Job.id).limit(limit)
    if kind:
        statement = statement.where(Job.kind == kind)
    if before is not None:
        statement = statement.where(Job.created_at < before)
    if ids is not None:
        statement = statement.where(Job.id.in_(ids))
    return session.scalars(statement).all()


def _ids_in_state(settings: Settings, state: JobState, kind: str, before: datetime | None, limit: int) -> list[str]:
    workflows = _workflows(
        settings,
        status=list(ENGINE_STATES[state]),
        name=kind or None,
        end_time=before.isoformat() if before else None,
        limit=limit,
        sort_desc=True,
        load_input=False,
        load_output=False,
    )
    return [workflow.workflow_id for workflow in workflows]


def _workflows(settings: Settings, **query: Any) -> list[Any]:
    """Ask the engine; it has no tables before the first worker runs."""
    try:
        return list(jobs.engine_client(settings).list_workflows(**query))
    except (OperationalError, ProgrammingError) as error:
        if "no such table" in str(error.orig) or "does not exist" in str(error.orig):
            return []
        raise


def _unsent_ids(session: Session, limit: int) -> list[str]:
    return list(session.scalars(select(Job.id).where(Job.sent_at.is_(None)).order_by(Job.created_at).limit(limit)))


def _cancelled_ids(session: Session, limit: int) -> list[str]:
    cancelled = select(Job.id).where(Job.cancelled_at.is_not(None)).order_by(Job.created_at.desc()).limit(limit)
    return list(session.scalars(cancelled))


def _with_states(settings: Settings, rows: Sequence[Job]) -> list[JobStatus]:
    sent = [job.id for job in rows if job.sent_at]
    workflows: dict[str, Any] = {}
    if sent:
        for item in _workflows(settings, workflow_ids=sent, load_input=False):
            workflows[item.workflow_id] = item
    return [_status(job, workflows.get(job.id)) for job in rows]


def _status(job: Job, workflow: Any) -> JobStatus:
    if workflow is None:
        state = JobState.CANCELLED if job.cancelled_at else JobState.QUEUED
        return JobStatus(job, state, "", None, job.cancelled_at)
    state = _STATES.get(workflow.status, JobState.FAILED)
    error = _error_text(workflow.error) if workflow.error else ""
    ended = workflow.updated_at if state not in (JobState.QUEUED, JobState.RUNNING) else None
    return JobStatus(job, state, error, _moment(workflow.created_at), _moment(ended))


def _error_text(error: Any) -> str:
    """The name and the message of an error, as the engine stored it."""
    name, message = getattr(error, "name", None) or type(error).__name__, getattr(error, "message", None) or str(error)
    return f"{name}: {message}"[:500]


def _moment(milliseconds: int | None) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, now().tzinfo) if milliseconds else None


def _mark_cancelled(session: Session, id: str) -> bool:
    """Note that a job is cancelled; returns whether the engine has it. One that was not sent never is."""
    job = session.get_one(Job, id, with_for_update=True)
    sent = job.sent_at is not None
    job.cancelled_at = now()
    job.sent_at = job.sent_at or now()
    return sent


def _mark_retried(session: Session, id: str, unknown: bool) -> None:
    """Note that a job is not cancelled any more; one that the engine does not know is sent again."""
    values: dict[str, Any] = {"cancelled_at": None} | ({"sent_at": None} if unknown else {})
    session.execute(update(Job).where(Job.id == id).values(**values))


def _due(session: Session) -> tuple[int, datetime | None]:
    due = func.coalesce(Job.due_at, Job.created_at)
    waiting = (Job.sent_at.is_(None), due <= now(), Job.kind.in_(jobs.WORKFLOWS))
    count, since = session.execute(select(func.count(), func.min(due)).where(*waiting)).one()
    return count, since
