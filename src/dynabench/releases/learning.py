"""Releases as models learn from them: what is to train on, to choose on and to test on. Hidden rows are not there."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from dynabench import errors
from dynabench.datasets import from_rounds
from dynabench.db import Database
from dynabench.models.training.mixing import Part, Rows
from dynabench.models.training.shapes import Shape
from dynabench.releases import manifest, service, writing
from dynabench.releases.layout import Layout
from dynabench.releases.manifest import Manifest
from dynabench.releases.tables import ReleaseState
from dynabench.rounds import service as rounds
from dynabench.settings import Settings
from dynabench.tasks import TaskConfig

PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class Learnable:
    """A release in a folder, and the config of its round."""

    folder: Path
    told: Manifest
    config: TaskConfig

    @property
    def name(self) -> str:
        """Its task and round, with a bit of its SHA-256."""
        return f"{self.told.task} round {self.told.round} ({self.told.digest[:12]})"

    def examples(self, part: str) -> Iterator[dict[str, Any]]:
        """The examples of `train`, `dev` or `test` as exports tell them; raises `Invalid` for another part."""
        if part not in PARTS:
            raise errors.Invalid({"part": f"One of {', '.join(PARTS)}."})
        path, layout = self.folder / "data" / f"{part}.jsonl", Layout.of(self.config)
        if path.is_file():
            with path.open("rb") as file:
                yield from (layout.nested(orjson.loads(line)) for line in file)

    def rows(self, part: str, shape: Shape) -> Rows:
        """The rows of `train`, `dev` or `test`; raises `Invalid` for a task of another shape."""
        found = []
        try:
            for example in self.examples(part):
                row = from_rounds.row_of(example, self.config)
                found.append(shape.row(row.inputs, [answer[shape.answer] for answer in row.answers]))
        except (KeyError, TypeError, IndexError, ValueError) as problem:
            told = f"Its rows cannot be learnt from as rows of {shape.task}: {str(problem)[:200]}"
            raise errors.Invalid({self.name: told}) from None
        return found

    def train(self, shape: Shape, weight: float = 1.0) -> Part:
        """What is to train on, as a part of a mix."""
        return Part(self.name, self.rows("train", shape), weight, self.config.data.licence)

    def kept(self, shape: Shape) -> Rows:
        """What is to choose and to test on, which no model may learn from."""
        return [*self.rows("dev", shape), *self.rows("test", shape)]


def read(folder: Path) -> Learnable:
    """The release in a folder, whose files are looked at. Raises `Invalid` under `folder`."""
    told = manifest.read(folder)
    try:
        source = (folder / writing.TASK).read_bytes().partition(b"\n")[2].decode()
        return Learnable(folder, told, TaskConfig.parse(source))
    except (OSError, ValueError) as problem:
        raise errors.Invalid({"folder": f"This release cannot be read: {str(problem)[:200]}"}) from None


def of_round(db: Database, settings: Settings, task: str, number: int) -> Learnable:
    """The release of a round of this deployment; raises `NotFound` where there is none."""
    found = db.read(service.of_round, task, number)
    if found is None or found.state != ReleaseState.READY:
        raise errors.NotFound(f"Round {number} of {task} is not released.")
    return read(service.folder(settings, found.id))


def of_task(db: Database, settings: Settings, task: str) -> list[Learnable]:
    """Every release of a task of this deployment, the oldest round first; none where there is no such task."""
    try:
        db.read(rounds.task, task)
    except errors.NotFound:
        return []
    found = db.read(service.listed, task)
    return [read(service.folder(settings, release.id)) for release, _ in reversed(found)]
