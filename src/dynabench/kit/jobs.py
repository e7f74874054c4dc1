"""Durable jobs: enqueued by a row in the same transaction as their cause, run by the worker, resumed after a crash.

A `Job` row is the outbox. The worker sends each row to DBOS under the row's id, so that sending twice starts one
workflow; DBOS keeps state and progress in a database of its own, apart from the main SQLite file.
"""

import importlib
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from enum import StrEnum
from functools import wraps
from typing import Any

from sqlalchemy import ForeignKey, Index, String, delete, or_, select, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench import __version__
from dynabench.kit import heartbeat
from dynabench.kit.compute_lock import TURNS
from dynabench.kit.db import Base, Database, now
from dynabench.kit.settings import Settings

log = logging.getLogger(__name__)
QUEUE = "jobs"
QUEUES = {
    "evaluate": "evaluations",
    "evaluate_openly": "evaluations",
    "turn_cycle": "cycles",
    "measure_data": "reports",
} | dict.fromkeys(("send_mail", "call_webhook", "mail_invitation"), "deliveries")
"""Kinds with queues of their own: nothing waits behind hundreds of them, and they do not wait behind hours of work."""
DELIVERIES_AT_ONCE = 8
CYCLES_AT_ONCE = 4  # a turn waits for other jobs most of its time; those that train take turns by themselves
APPLICATION = "dynabench-1"  # changes when a workflow's steps change, so that old runs are not resumed by new code

# kind -> function; each takes the payload and returns a JSON-safe result, and is made of DBOS steps
WORKFLOWS = {
    "import_contexts": "dynabench.rounds.jobs:import_contexts",
    "turn_round": "dynabench.rounds.jobs:turn_round",
    "recount_votes": "dynabench.validation.jobs:recount_votes",
    "estimate_quality": "dynabench.quality.jobs:estimate_quality",
    "compute_signals": "dynabench.quality.signals.jobs:compute_signals",
    "weigh_votes": "dynabench.quality.jobs:weigh_votes",
    "import_data": "dynabench.datasets.jobs:import_data",
    "export_task": "dynabench.datasets.archives.jobs:export_task",
    "import_task": "dynabench.datasets.archives.jobs:import_task",
    "perturb_dataset": "dynabench.datasets.copy_jobs:perturb_dataset",
    "check_submission": "dynabench.benchmark.registry.submission_checks:check_submission",
    "enter_baselines": "dynabench.benchmark.registry.platform_submissions:enter_baselines",
    "enter_targets": "dynabench.benchmark.registry.platform_submissions:enter_targets",
    "read_dataset": "dynabench.datasets.jobs:read_dataset",
    "queue_evaluations": "dynabench.benchmark.evaluations.evaluating:run_queue_job",
    "evaluate": "dynabench.benchmark.evaluations.evaluating:evaluate",
    "evaluate_openly": "dynabench.open_evaluations.jobs:evaluate_openly",
    "fetch_remote_rows": "dynabench.open_evaluations.jobs:fetch_remote_rows",
    "measure_round": "dynabench.insight.data_measurements.jobs:measure_round",
    "measure_data": "dynabench.insight.data_reports.jobs:measure_data_job",
    "release_round": "dynabench.benchmark.releases.release_steps:release_round",
    "turn_cycle": "dynabench.cycle.durable:turn_cycle",
    "book_earnings": "dynabench.pay.jobs:book_earnings",
    "tell_announcement": "dynabench.announcements.jobs:tell_announcement",
    "remove_students": "dynabench.site.community.student_removal:remove_students",
    "mail_invitation": "dynabench.rounds.jobs:mail_invitation",
    "decide_participation": "dynabench.crowd.jobs:decide_participation",
    "pay_bonuses": "dynabench.crowd.jobs:pay_bonuses",
    "reconcile_study": "dynabench.crowd.jobs:reconcile_study",
    "send_mail": "dynabench.people.notices.durable:send_mail",
    "call_webhook": "dynabench.people.notices.durable:call_webhook",
}


COMPUTING = ("import_data", "export_task", "import_task", "perturb_dataset", "check_submission", "read_dataset",
             "estimate_quality", "measure_round", "measure_data", "release_round")  # fmt: skip
"""Kinds that keep a processor busy, and so never run while the worker measures what a model costs."""

KEEPERS = (
    "dynabench.rounds.jobs:reschedule_overdue_rounds",
    "dynabench.people.notices.durable:requeue_lost_deliveries",
    "dynabench.datasets.jobs:clean_up_datasets",
    "dynabench.insight.data_measurements.jobs:measure_changed_rounds",
    "dynabench.quality.jobs:estimate_changed_tasks",
    "dynabench.quality.signals.jobs:compute_new_signals",
    "dynabench.cycle.durable:fail_lost_turns",
    *(f"dynabench.benchmark.maintenance:tidy_{rows}" for rows in ("submissions", "evaluations", "releases")),
    "dynabench.open_evaluations.service:tidy_evaluations",
    "dynabench.media.service:delete_unused_media",
    "dynabench.hubs.uploads:sweep_files",
    "dynabench.hubs.pruning:prune_repositories",
    "dynabench.pay.jobs:book_changed_rounds",
    "dynabench.recognition.badges.jobs:award_weeks_and_boards",
    "dynabench.crowd.jobs:resend_decisions",
)
"""Functions of a database and settings that a worker calls at its start and every `KEEP` seconds."""
FOLDERS = ("dynabench.collection.folding:fold_until", "dynabench.recognition.badges.jobs:fold_until")
"""Functions of a database and an event that a worker calls in threads of their own, until the event is set."""
KEEP, BEAT = 60.0, 20.0
"""Seconds between two rounds of the keepers, and between two signs of life in the database."""
LONGEST_ROUND = 900.0
"""Seconds that the worker's loop may spend on one keeper, or on sending jobs, before it counts as hung. Long, since
jobs under way, hours of work perhaps, end with the worker."""


class JobState(StrEnum):
    """States of a job; the last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(Base):
    """A job that a person or the platform queued; the worker hands it to the engine at `sent_at`, not before `due_at`.

    `cancelled_at` is when an administrator ended it. `done` is what its steps have added up so far, written in the same
    transaction as what they did: a step that was committed and is run again after a crash finds itself there.
    """

    __tablename__ = "jobs"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    kind: Mapped[str] = mapped_column(String(40))
    payload: Mapped[dict[str, Any]]
    done: Mapped[dict[str, Any] | None]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    due_at: Mapped[datetime | None]
    sent_at: Mapped[datetime | None]
    cancelled_at: Mapped[datetime | None]

    __table_args__ = (
        Index("ix_jobs_created_at", "created_at"),
        Index(
            "ix_jobs_unsent",
            "created_at",
            sqlite_where=text("sent_at IS NULL"),
            postgresql_where=text("sent_at IS NULL"),
        ),
    )


class WorkerBeat(Base):
    """A worker process by machine and process id, and when it was last alive."""

    __tablename__ = "worker_beats"

    name: Mapped[str] = mapped_column(String(120), primary_key=True)
    version: Mapped[str] = mapped_column(String(40))
    started_at: Mapped[datetime]
    seen_at: Mapped[datetime]


def enqueue(
    session: Session, kind: str, payload: dict[str, Any], person_id: int | None = None, due_at: datetime | None = None
) -> Job:
    """Ask for a job in this transaction; it starts once the transaction is committed, and not before `due_at`."""
    if kind not in WORKFLOWS:
        raise KeyError(kind)
    job = Job(id=str(uuid.uuid4()), kind=kind, payload=payload, person_id=person_id, due_at=due_at)
    session.add(job)
    return job


def engine_url(settings: Settings) -> str:
    """Return the URL of DBOS's state: a file beside the SQLite file, or a schema of its own in PostgreSQL."""
    return f"sqlite:///{settings.folder / 'jobs.sqlite'}" if settings.url.startswith("sqlite") else settings.url


ALIVE = ("ENQUEUED", "DELAYED", "PENDING", "SUCCESS")
_clients: dict[str, Any] = {}
_clients_lock = threading.Lock()


def _client(url: str) -> Any:
    from dbos import DBOSClient, DBOSPortableJSONSerializer

    with _clients_lock:
        if url not in _clients:
            _clients[url] = DBOSClient(system_database_url=url, serializer=DBOSPortableJSONSerializer())
        return _clients[url]


def engine_client(settings: Settings) -> Any:
    """Return the connection to the engine's state that this process has."""
    return _client(engine_url(settings))


def release(settings: Settings) -> None:
    """Close this process's connections to the engine's state."""
    with _clients_lock:
        client = _clients.pop(engine_url(settings), None)
    if client is not None:
        client.destroy()


def progress(settings: Settings, job: Job) -> dict[str, Any]:
    """State of a job (a `JobState`), its progress, and its result or error."""
    states = {
        "ENQUEUED": JobState.QUEUED,
        "DELAYED": JobState.QUEUED,
        "PENDING": JobState.RUNNING,
        "SUCCESS": JobState.DONE,
        "CANCELLED": JobState.CANCELLED,
    }
    result = (
        _client(engine_url(settings)).list_workflows(workflow_ids=[job.id])
        if job.sent_at and not job.cancelled_at
        else []
    )
    if not result:
        return {
            "id": job.id,
            "kind": job.kind,
            "state": JobState.CANCELLED if job.cancelled_at else JobState.QUEUED,
            "progress": None,
            "result": None,
            "error": None,
        }
    status = result[0]
    state = states.get(status.status, JobState.FAILED)
    done = state in (JobState.DONE, JobState.FAILED, JobState.CANCELLED)
    return {
        "id": job.id,
        "kind": job.kind,
        "state": state,
        "progress": None if done else _client(engine_url(settings)).get_event(job.id, "progress", timeout_seconds=0),
        "result": status.output if state == JobState.DONE else None,
        "error": str(status.error) if state == JobState.FAILED else None,
    }


def given_up(database: Database, settings: Settings, ids: list[str]) -> list[str]:
    """Those of these jobs that were sent and will not end by themselves any more.

    They failed outside of what they guard against, were begun by too many workers that died, were cancelled by hand,
    or the engine does not know them, as after a restore of one of the two databases.
    """
    result = []
    for first in range(0, len(ids), 500):
        sent = database.read(_sent, ids[first : first + 500])
        if sent:
            workflows = _client(engine_url(settings)).list_workflows(
                workflow_ids=sent, load_input=False, load_output=False
            )
            alive = {item.workflow_id for item in workflows if item.status in ALIVE}
            result += [id for id in sent if id not in alive]
    return result


def _sent(session: Session, ids: list[str]) -> list[str]:
    return list(session.scalars(select(Job.id).where(Job.id.in_(ids), Job.sent_at.is_not(None))))


_database: Database | None = None


def has_finished(session: Session, job_id: str) -> bool:
    """Return whether an import has noted that its last step is done; a crash may have come after that."""
    return bool((session.get_one(Job, job_id).done or {}).get("finished"))


def database() -> Database:
    """The worker's database, for the steps of workflows."""
    if _database is None:
        raise RuntimeError("No worker runs in this process.")
    return _database


def _unsent(session: Session) -> list[Job]:
    runnable = Job.kind.in_(WORKFLOWS)  # what another version of the code asked for waits for its worker
    due = or_(Job.due_at.is_(None), Job.due_at <= now())
    waiting = select(Job).where(Job.sent_at.is_(None), runnable, due)
    return list(session.scalars(waiting.order_by(Job.created_at).limit(100)))


def _mark_sent(session: Session, ids: list[str]) -> None:
    session.execute(update(Job).where(Job.id.in_(ids)).values(sent_at=now()))


def send(db: Database, start: Callable[[Job], None]) -> int:
    """Hand every waiting job to the engine; returns how many. A crash in between sends again under the same id."""
    waiting = db.read(_unsent)
    for job in waiting:
        start(job)
    if waiting:
        db.write(_mark_sent, [job.id for job in waiting])
    return len(waiting)


def _loaded(where: str) -> Any:
    """The function that `module:name` says."""
    module, _, name = where.partition(":")
    return getattr(importlib.import_module(module), name)


def _in_turn(kind: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The job's function; of one that computes, in its turn beside others."""
    if kind not in COMPUTING:
        return function

    @wraps(function)
    def run(payload: Any) -> Any:
        with TURNS.shared():
            return function(payload)

    return run


def _keep(keepers: list[Callable[[Database, Settings], None]], database: Database, settings: Settings) -> None:
    """Call each; one that fails keeps no other and no job from its turn."""
    for item in keepers:
        heartbeat.progress(LONGEST_ROUND)
        try:
            item(database, settings)
        except Exception:
            log.exception("%s", item.__module__)


def note_worker(session: Session, started_at: datetime) -> None:
    """Note that this worker lives, and forget those that have been gone for long."""
    session.execute(delete(WorkerBeat).where(WorkerBeat.seen_at < now() - timedelta(days=1)))
    name = f"{socket.gethostname()[:80]} ({os.getpid()})"
    session.merge(WorkerBeat(name=name, version=__version__, started_at=started_at, seen_at=now()))


def work(settings: Settings, stop: threading.Event, poll: float = 0.5) -> None:
    """Run the worker until `stop` is set: resume what a crash left, then send and run what comes.

    For a process of its own, which ends afterwards: what a second does not finish goes on in the next worker.
    """
    from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID

    global _database
    _database = Database(settings.url)
    config = DBOSConfig(
        name="dynabench",
        system_database_url=engine_url(settings),
        application_version=APPLICATION,
        executor_id="worker",
        serializer=DBOSPortableJSONSerializer(),
        log_level="WARNING",
    )
    DBOS(config=config)
    workflows: dict[str, Any] = {}
    for kind, where in WORKFLOWS.items():
        workflows[kind] = DBOS.workflow(name=kind)(_in_turn(kind, _loaded(where)))
    DBOS.launch()
    at_once = {QUEUE: 2, "evaluations": settings.evaluations_at_once, "deliveries": DELIVERIES_AT_ONCE}
    at_once |= {"cycles": CYCLES_AT_ONCE, "reports": 1}
    queues = {
        name: DBOS.register_queue(name, worker_concurrency=number, polling_interval_sec=poll)
        for name, number in at_once.items()
    }

    def start(job: Job) -> None:
        with SetWorkflowID(job.id):
            queues[QUEUES.get(job.kind, QUEUE)].enqueue(workflows[job.kind], job.payload)

    keepers = [_loaded(where) for where in KEEPERS]
    for folder in FOLDERS:
        threading.Thread(target=_loaded(folder), args=(_database, stop), daemon=True).start()
    last_cleaned, last_noted, started_at = -KEEP, -BEAT, now()
    try:
        while not stop.wait(poll):
            heartbeat.progress(LONGEST_ROUND)
            send(_database, start)
            if time.monotonic() - last_noted > BEAT:
                _database.write(note_worker, started_at)
                last_noted = time.monotonic()
            if time.monotonic() - last_cleaned > KEEP:
                _keep(keepers, _database, settings)
                last_cleaned = time.monotonic()
    finally:
        release(settings)
        DBOS.destroy(workflow_completion_timeout_sec=1)
