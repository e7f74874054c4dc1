"""Datasets and installed models to evaluate, and a worker that does it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import costs, evaluating
from dynabench.benchmark.evaluations import service as evaluations
from dynabench.benchmark.evaluations.tables import Evaluation
from dynabench.benchmark.registry import submission_sources
from dynabench.benchmark.registry.tables import Submission
from dynabench.datasets import copy_jobs, stored
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import Dataset, DatasetVersion, Twin
from dynabench.kit import jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings, get_settings
from dynabench.models import catalog
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service
from dynabench.tasks import shipped_tasks
from tests.jobs.conftest import Worker, until, worker

__all__ = ["Worker", "worker"]

GOOD = "a warm, funny and wonderful film that I loved"
BAD = "a dull, boring and terrible film that I hated"


def statements(rows: int) -> list[StoredRow]:
    """Reviews that any model of sentiment can tell apart, each with a tag."""
    result = []
    for number in range(rows):
        good = number % 3 != 0
        text = f"{GOOD if good else BAD}, scene {number}"
        label = "positive" if good else "negative"
        result.append(StoredRow(f"r{number}", {"statement": text}, ({"label": label},), ("good" if good else "bad",)))
    return result


class Place:
    """A task with datasets and submissions, made as the features make them."""

    def __init__(self, database: Database, settings: Settings, task: str = "sentiment") -> None:
        self.database, self.settings, self.task = database, settings, task
        [shipped] = [shipped_task for shipped_task in shipped_tasks() if shipped_task.config.id == task]
        database.write(service.save_task, None, shipped.source)

    def dataset(self, name: str, rows: Sequence[StoredRow], visibility: str = "public", **more: Any) -> int:
        """A dataset of one version; the version's id."""
        written = stored.write_rows(self.settings, rows)

        def make(session: Session) -> int:
            dataset = Dataset(task_id=self.task, name=name, visibility=visibility, **more)
            session.add(dataset)
            session.flush()
            version = DatasetVersion(
                dataset_id=dataset.id, number=1, state="ready", digest=written.digest, rows=written.rows,
                slices=written.tags,
            )  # fmt: skip
            session.add(version)
            session.flush()
            dataset.version_id = version.id
            return version.id

        return self.database.write(make)

    def twin(self, version: int, axis: str, rows: Sequence[StoredRow]) -> int:
        """A twin that is ready; its id."""
        written = stored.write_rows(self.settings, rows, twins=True)

        def make(session: Session) -> int:
            created = Twin(version_id=version, axis=axis, state="ready", digest=written.digest, rows=written.rows)
            session.add(created)
            session.flush()
            return created.id

        return self.database.write(make)

    def submit(self, model: str, person: int | None = None, **more: Any) -> int:
        """An installed model as a ready submission; its id."""
        card = catalog.entry(model).card
        assert card is not None
        reply = submission_sources.board_fields(card) | {"answer": card.answer}

        def make(session: Session) -> int:
            fields = {"kind": "installed", "name": model, "model": model, "version": card.version, "inside": True}
            submission = Submission(
                task_id=self.task, person_id=person, card=reply, **({"state": "ready"} | fields | more)
            )
            session.add(submission)
            session.flush()
            return submission.id

        return self.database.write(make)

    def queue(self, **payload: Any) -> int:
        """Queue what is missing."""
        return self.database.write(evaluations.queue_evaluations, payload)

    def evaluation(self, id: int) -> Evaluation:
        return self.database.read(lambda session: session.get_one(Evaluation, id))

    def ended(self, id: int, seconds: float = 90) -> Evaluation:
        """The evaluation once it is over."""

        def look() -> Evaluation | None:
            result = self.evaluation(id)
            return result if result.state in ("done", "failed", "cancelled") else None

        return until(look, seconds)


@pytest.fixture
def place(database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Place]]:
    """Make a place for a task; models are looked for in the home that the worker has."""
    monkeypatch.setenv("DYNABENCH_HOME", str(settings.home))
    get_settings.cache_clear()
    yield lambda task="sentiment": Place(database, settings, task)
    get_settings.cache_clear()


@pytest.fixture
def owner_of(database: Database) -> Callable[[str], int]:
    """Make somebody with an account; their id."""

    def make(name: str) -> int:
        def add(session: Session) -> int:
            person = Person(username=name, email=f"{name}@example.org", password_hash="-", terms="", agreed_at=now())
            session.add(person)
            session.flush()
            return person.id

        return database.write(add)

    return make


@contextmanager
def worker_here(database: Database, settings: Settings) -> Iterator[None]:
    """Let this process do what a worker does, and measure what a model costs once, on few rows."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("HOME", settings.home), ("DATABASE_URL", settings.url), ("SECRET", settings.secret)):
            patch.setenv(f"DYNABENCH_{name}", str(value))
        patch.setattr(jobs, "_database", database)
        patch.setattr(costs, "REPEATS", 1)
        patch.setattr(costs, "SINGLE_ROWS", 4)
        get_settings.cache_clear()
        yield
    get_settings.cache_clear()


def run_evaluation(database: Database, settings: Settings, id: int) -> dict[str, Any]:
    """Run an evaluation in this process, by the steps that the worker takes; how it ended."""
    job = database.read(lambda session: session.get_one(Evaluation, id)).job_id
    assert job is not None
    with worker_here(database, settings):
        return evaluating.run_job(job, id)


@pytest.fixture
def by_hand(place: Any, database: Database, settings: Settings) -> Callable[[int], None]:
    """Run an evaluation in this process until it is done."""

    def run(id: int) -> None:
        result = run_evaluation(database, settings, id)
        assert result == {"state": "done", "code": ""}, database.read(Session.get_one, Evaluation, id).reason

    return run


@pytest.fixture
def run_jobs(place: Any, database: Database, settings: Settings) -> Callable[..., None]:
    """Run in this process the jobs of some kinds, and those that they ask for, until none waits."""

    def run_job(job: jobs.Job) -> None:
        if job.kind == "evaluate":
            evaluating.run_job(job.id, job.payload["evaluation"])
        elif job.kind == "queue_evaluations":
            evaluating.queue_missing(job.payload)
        else:
            copy_jobs.generate_copies(job.payload, lambda _: None)

    def run(*kinds: Literal["evaluate", "queue_evaluations", "perturb_dataset"]) -> None:
        waiting = select(jobs.Job).where(jobs.Job.sent_at.is_(None), jobs.Job.kind.in_(kinds))
        with worker_here(database, settings):
            while job := database.read(lambda session: session.scalars(waiting.order_by(jobs.Job.created_at)).first()):
                database.write(jobs._mark_sent, [job.id])
                run_job(job)

    return run
