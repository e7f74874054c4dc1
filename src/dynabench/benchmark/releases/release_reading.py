"""Releases in folders that are read again: as archives of a task, and as training data.

Of training data there are the parts train, dev and test; the hidden part is not in the files.
"""

import heapq
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from dynabench.benchmark.releases import manifest, release_files, service
from dynabench.benchmark.releases.description import ReleaseLayout
from dynabench.benchmark.releases.manifest import ReleaseManifest
from dynabench.benchmark.releases.tables import ReleaseState
from dynabench.datasets import conversions
from dynabench.datasets.archives import layout as archive
from dynabench.datasets.archives import writing as archives
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.models.training.mixing import MixPart, Rows, Shape
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig

MAX_LINE_BYTES = archive.MOST_LINE


def to_archive(folder: Path, path: Path) -> ReleaseManifest:
    """Write the archive of the task that a release in `folder` belongs to; return the release's manifest. The task
    has one round, which is released, with the examples of the public parts. Raises `Invalid` under `folder` for a
    folder that is no release, or was changed.
    """
    release_manifest = manifest.read_manifest(folder)
    try:
        source = (folder / release_files.TASK).read_bytes().partition(b"\n")[2].decode()
        document = orjson.loads((folder / release_files.ROUND).read_bytes())
        layout = ReleaseLayout.of(TaskConfig.parse(source))
        _write(path, release_manifest, source, document, folder, layout)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        path.unlink(missing_ok=True)
        raise errors.Invalid({"folder": f"This release cannot be read: {str(problem)[:200]}"}) from None
    return release_manifest


def _write(
    path: Path,
    release_manifest: ReleaseManifest,
    source: str,
    document: dict[str, Any],
    folder: Path,
    layout: ReleaseLayout,
) -> None:
    version, round_, number = document["version"], document["round"], int(document["version"]["number"])
    with path.open("wb") as file, zipfile.ZipFile(file, "w", compresslevel=6) as zipped:
        writer = archives.ArchiveWriter(zipped)
        writer.add(archive.TASK, [source.encode()])
        writer.add(archive.config_file(number), [source.encode()])
        writer.add(archive.VERSIONS, archives.json_lines([version]), counted=True)
        writer.add(archive.ROUNDS, archives.json_lines([round_]), counted=True)
        writer.add(archive.CONTEXTS, archives.json_lines(_contexts(folder, layout)), counted=True)
        writer.add(archive.SEEDS, [], counted=True)
        writer.add(archive.EXAMPLES, archives.json_lines(_examples(folder, layout)), counted=True)
        writer.add(archive.DATASETS, [], counted=True)
        writer.finish(release_manifest.task, TaskConfig.parse(source).name)


def _examples(folder: Path, layout: ReleaseLayout) -> Iterator[dict[str, Any]]:
    """The examples of all parts, in the order in which they were written."""
    parts = [_rows(part_path) for part_path in sorted((folder / "data").glob("*.jsonl"))]
    for row in heapq.merge(*parts, key=lambda row: int(row["number"])):
        yield layout.nested(row) | {"attributions": []}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            yield orjson.loads(line)


def _contexts(folder: Path, layout: ReleaseLayout) -> Iterator[dict[str, Any]]:
    seen: set[bytes] = set()
    for row in _examples(folder, layout):
        content = orjson.dumps(row["context"], option=orjson.OPT_SORT_KEYS)
        if content not in seen:
            seen.add(content)
            yield row["context"] | {"weight": 1.0, "retired": False}


PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class TrainableRelease:
    """A release in a folder, with the config of its round."""

    folder: Path
    manifest: ReleaseManifest
    config: TaskConfig

    @property
    def name(self) -> str:
        """The task and the round, with the first digits of the SHA-256."""
        return f"{self.manifest.task} round {self.manifest.round} ({self.manifest.digest[:12]})"

    def examples(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield the examples of `train`, `dev` or `test` as exports have them; raises `Invalid` for another part."""
        if part not in PARTS:
            raise errors.Invalid({"part": f"One of {', '.join(PARTS)}."})
        path, layout = self.folder / "data" / f"{part}.jsonl", ReleaseLayout.of(self.config)
        if path.is_file():
            with path.open("rb") as file:
                yield from (layout.nested(orjson.loads(line)) for line in file)

    def rows(self, part: str, shape: Shape) -> Rows:
        """Return the rows of `train`, `dev` or `test`; raises `Invalid` for a task of another shape."""
        rows = []
        try:
            for example in self.examples(part):
                row = conversions.example_row(example, self.config)
                rows.append(shape.row(row.inputs, [answer[shape.answer] for answer in row.answers]))
        except (KeyError, TypeError, IndexError, ValueError) as problem:
            message = f"Its rows cannot be learnt from as rows of {shape.task}: {str(problem)[:200]}"
            raise errors.Invalid({self.name: message}) from None
        return rows

    def train(self, shape: Shape, weight: float = 1.0) -> MixPart:
        """Return the train rows as a part of a mix."""
        own = self.manifest.round if self.manifest.task == shape.task else None
        return MixPart(self.name, self.rows("train", shape), weight, self.config.data.licence, own)

    def held_out_rows(self, shape: Shape) -> Rows:
        """Return the rows of dev and test, which no model may train on."""
        return [*self.rows("dev", shape), *self.rows("test", shape)]


def read_release(folder: Path) -> TrainableRelease:
    """Return the release in a folder, after a check of its files. Raises `Invalid` under `folder`."""
    release_manifest = manifest.read_manifest(folder)
    try:
        source = (folder / release_files.TASK).read_bytes().partition(b"\n")[2].decode()
        return TrainableRelease(folder, release_manifest, TaskConfig.parse(source))
    except (OSError, ValueError) as problem:
        raise errors.Invalid({"folder": f"This release cannot be read: {str(problem)[:200]}"}) from None


def trainable_release(db: Database, settings: Settings, task: str, number: int) -> TrainableRelease:
    """Return the release of a round of this deployment; raises `NotFound` where there is none."""
    release = db.read(service.release_of_round, task, number)
    if release is None or release.state != ReleaseState.READY:
        raise errors.NotFound(f"Round {number} of {task} is not released.")
    return read_release(service.release_folder(settings, release.id))


def releases_of_task(db: Database, settings: Settings, task: str) -> list[TrainableRelease]:
    """Return all releases of a task of this deployment, the oldest round first; none for an unknown task."""
    try:
        db.read(rounds.get_task, task)
    except errors.NotFound:
        return []
    releases = db.read(service.ready_releases, task)
    return [read_release(service.release_folder(settings, release.id)) for release, _ in reversed(releases)]
