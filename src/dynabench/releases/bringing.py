"""A release made into a task again: its files put together as an archive, which is brought in as any other."""

import heapq
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from dynabench import errors
from dynabench.archives import layout as archive
from dynabench.archives import writing as archives
from dynabench.releases import manifest, writing
from dynabench.releases.layout import Layout
from dynabench.releases.manifest import Manifest
from dynabench.tasks import TaskConfig

LONGEST = archive.MOST_LINE


def to_archive(folder: Path, path: Path) -> Manifest:
    """Write the archive of the task that a release in `folder` is of; what the release's manifest says.

    The task has one round, which is released, with the examples that everybody may read. Raises `Invalid` under
    `folder` for what is no release, or was changed.
    """
    told = manifest.read(folder)
    try:
        source = (folder / writing.TASK).read_bytes().partition(b"\n")[2].decode()
        document = orjson.loads((folder / writing.ROUND).read_bytes())
        layout = Layout.of(TaskConfig.parse(source))
        _write(path, told, source, document, folder, layout)
    except (OSError, ValueError, KeyError, TypeError) as problem:
        path.unlink(missing_ok=True)
        raise errors.Invalid({"folder": f"This release cannot be read: {str(problem)[:200]}"}) from None
    return told


def _write(path: Path, told: Manifest, source: str, document: dict[str, Any], folder: Path, layout: Layout) -> None:
    version, round_, number = document["version"], document["round"], int(document["version"]["number"])
    with path.open("wb") as file, zipfile.ZipFile(file, "w", compresslevel=6) as zipped:
        writer = archives.Writer(zipped)
        writer.add(archive.TASK, [source.encode()])
        writer.add(archive.config_file(number), [source.encode()])
        writer.add(archive.VERSIONS, archives.lines([version]), counted=True)
        writer.add(archive.ROUNDS, archives.lines([round_]), counted=True)
        writer.add(archive.CONTEXTS, archives.lines(_contexts(folder, layout)), counted=True)
        writer.add(archive.SEEDS, [], counted=True)
        writer.add(archive.EXAMPLES, archives.lines(_examples(folder, layout)), counted=True)
        writer.add(archive.DATASETS, [], counted=True)
        writer.finish(told.task, TaskConfig.parse(source).name)


def _examples(folder: Path, layout: Layout) -> Iterator[dict[str, Any]]:
    """The examples of all parts, in the order in which they were written."""
    parts = [_rows(each) for each in sorted((folder / "data").glob("*.jsonl"))]
    for row in heapq.merge(*parts, key=lambda row: int(row["number"])):
        yield layout.nested(row) | {"attributions": []}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as file:
        while line := file.readline(LONGEST):
            yield orjson.loads(line)


def _contexts(folder: Path, layout: Layout) -> Iterator[dict[str, Any]]:
    seen: set[bytes] = set()
    for row in _examples(folder, layout):
        given = orjson.dumps(row["context"], option=orjson.OPT_SORT_KEYS)
        if given not in seen:
            seen.add(given)
            yield row["context"] | {"weight": 1.0, "retired": False}
