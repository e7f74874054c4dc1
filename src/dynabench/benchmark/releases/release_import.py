"""The conversion of a release into an archive of a task, which is imported like any other archive."""

import heapq
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from dynabench.benchmark.releases import manifest, release_files
from dynabench.benchmark.releases.layout import ReleaseLayout
from dynabench.benchmark.releases.manifest import ReleaseManifest
from dynabench.datasets.archives import layout as archive
from dynabench.datasets.archives import writing as archives
from dynabench.kit import errors
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
        writer = archives.Writer(zipped)
        writer.add(archive.TASK, [source.encode()])
        writer.add(archive.config_file(number), [source.encode()])
        writer.add(archive.VERSIONS, archives.lines([version]), counted=True)
        writer.add(archive.ROUNDS, archives.lines([round_]), counted=True)
        writer.add(archive.CONTEXTS, archives.lines(_contexts(folder, layout)), counted=True)
        writer.add(archive.SEEDS, [], counted=True)
        writer.add(archive.EXAMPLES, archives.lines(_examples(folder, layout)), counted=True)
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
