"""A dataset of three rows whose copies are made and sent in tests."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets import copy_jobs, twins
from dynabench.datasets.stored import StoredRow
from dynabench.datasets.tables import DatasetVersion, Twin
from dynabench.kit import jobs
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.rounds import service as rounds
from dynabench.tasks import shipped_tasks
from tests.conftest import Caller
from tests.kept import dataset

ROWS = [
    StoredRow("r1", {"premise": "John gave Mary two apples.", "hypothesis": "A man is generous to his friend."},
           ({"label": "neutral"},), ("gifts",)),
    StoredRow("r2", {"premise": "Nobody was seen on the beautiful street.", "hypothesis": "The street is empty."},
           ({"label": "entailment"},)),
    StoredRow("r3", {"premise": "雨が降っている。", "hypothesis": "晴れている。"}, ({"label": "contradiction"},)),
]  # fmt: skip
ADDRESS = "/tasks/nli/datasets/small/twins"


@dataclass
class Place:
    """A dataset of nli with rows, and its owner."""

    database: Database
    settings: Settings
    olga: Caller
    version: int

    def ask(self) -> list[Twin]:
        return self.database.write(lambda s: twins.request_twins(s, s.get_one(DatasetVersion, self.version)))

    def run(self) -> None:
        """Run the queued jobs as the worker does, without its engine."""
        for job in self.database.read(lambda s: list(s.scalars(select(jobs.Job).where(jobs.Job.sent_at.is_(None))))):
            if job.kind == twins.PERTURB_KIND:
                run(job, self.database)

    def twin(self, axis: str) -> Twin | None:
        return self.database.read(lambda s: s.scalar(twins.current_twin(self.version, axis)))

    def last(self, axis: str) -> Twin:
        value = self.database.read(lambda s: s.scalar(twins.newest_twin(self.version, axis)))
        assert value is not None
        return value


def run(job: jobs.Job, database: Database) -> None:
    """The workflow's steps in order; `tests/jobs` runs them in a real worker."""
    if "file" in job.payload:
        copy_jobs.upload_step(job.id, job.payload)
    else:
        copy_jobs.generate_copies(job.payload, lambda _: None)
    database.write(lambda s: jobs._mark_sent(s, [job.id]))


@pytest.fixture
def place(database: Database, settings: Settings, person: Callable[[str], Caller], monkeypatch) -> Place:
    olga = person("olga")
    [nli] = [shipped for shipped in shipped_tasks() if shipped.config.id == "nli"]
    database.write(rounds.save_task, None, nli.source)
    database.write(rounds.set_role, None, "nli", "olga", "owner")
    version = database.write(furnish, settings)
    monkeypatch.setattr(jobs, "_database", database)
    monkeypatch.setattr(copy_jobs, "get_settings", lambda: settings)
    return Place(database, settings, olga, version)


def furnish(session: Session, settings: Settings, visibility: str = "public", rows: Sequence[StoredRow] = ROWS) -> int:
    return dataset(session, settings, rows, "small", visibility)
