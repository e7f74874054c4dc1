"""The manifest of a release, its upload, and releases in folders that are read again: as archives, and to train on."""

import hashlib
import heapq
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import orjson
from pydantic import BaseModel, ConfigDict, Field

from dynabench.benchmark.releases import release_files, service
from dynabench.benchmark.releases.release_files import ReleaseLayout
from dynabench.benchmark.releases.tables import ReleaseState
from dynabench.datasets import conversions
from dynabench.datasets.archives import layout as archive
from dynabench.datasets.archives import writing as archives
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.models.training.mixing import Part, Rows, Shape
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig

MANIFEST_NAME = "manifest.json"
FORMAT = "dynabench-release"
PIECE = 1024**2


class ReleaseFile(BaseModel):
    """A file of the release, by its path in the folder."""

    path: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+(/[A-Za-z0-9_-]+)?\.[a-z]+$", max_length=120)]
    bytes: Annotated[int, Field(ge=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rows: Annotated[int, Field(ge=0)] | None = None


class ReleaseManifest(BaseModel):
    """The contents of a release: its round, the rules of its division, and its files in the order of their paths."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["dynabench-release"]
    version: Literal[1]
    canary: str
    task: str
    round: int
    closed_at: str
    rules: dict[str, Any]
    examples: dict[str, int]
    files: list[ReleaseFile]

    def text(self) -> bytes:
        """Return the bytes of the file."""
        return orjson.dumps(self.model_dump(), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"

    @property
    def digest(self) -> str:
        """The SHA-256 of the file, by which the release is cited."""
        return hashlib.sha256(self.text()).hexdigest()


def describe_file(folder: Path, path: str, rows: int | None = None) -> ReleaseFile:
    """Return the manifest's entry for a file."""
    digest = hashlib.sha256()
    with (folder / path).open("rb") as file:
        while part := file.read(PIECE):
            digest.update(part)
    return ReleaseFile(path=path, bytes=(folder / path).stat().st_size, sha256=digest.hexdigest(), rows=rows)


def read_manifest(folder: Path) -> ReleaseManifest:
    """Return the manifest of a release in a folder, after a check of its files. Raises `Invalid` under `folder`."""
    try:
        release_manifest = ReleaseManifest.model_validate_json((folder / MANIFEST_NAME).read_bytes())
    except (OSError, ValueError):
        raise errors.Invalid(
            {
                "folder": _(
                    "%(folder)s is not a release: it has no readable %(name)s.", folder=folder, name=MANIFEST_NAME
                )
            }
        ) from None
    for file in release_manifest.files:
        try:
            same = describe_file(folder, file.path).sha256 == file.sha256
        except OSError:
            same = False
        if not same:
            raise errors.Invalid({"folder": _("%(path)s differs from the file of the release.", path=file.path)})
    return release_manifest


HUB = "hf"
UploadProgress = Callable[[int, int], object]
"""Called with how many files are written, of how many."""


def upload_release(
    settings: Settings, folder: Path, to: str, token: str = "", progress: UploadProgress = lambda *_: None
) -> str:
    """Copy the files of a release in `folder` to an address; return the address where they are then.

    `hf://datasets/OWNER/NAME` is a repository of the hub of `DYNABENCH_HUB_URL`, which `token` may write; it is
    created if it is missing, and its other files stay. Every other address is one of fsspec, such as
    `file:///backups/x`, `memory://x` or `s3://bucket/x` (with the package s3fs). Raises `Invalid`, `Unavailable`.
    """
    read_manifest(folder)
    if urlsplit(to).scheme == HUB:
        return _to_hub(settings, folder, to, token, progress)
    return _to_store(folder, to, progress)


def _to_store(folder: Path, to: str, progress: UploadProgress) -> str:
    import fsspec

    try:
        store, root = fsspec.url_to_fs(to)
        paths = _paths(folder)
        for number, path in enumerate(paths, start=1):
            target = f"{root.rstrip('/')}/{path}"
            store.makedirs(target.rpartition("/")[0], exist_ok=True)
            store.put_file(str(folder / path), target)
            progress(number, len(paths))
    except (ValueError, ImportError) as problem:
        raise errors.Invalid({"to": f"This is no address that files can be written to: {problem}"[:300]}) from None
    except OSError as problem:
        raise errors.Unavailable(f"{to} takes no files: {str(problem)[:200]}") from None
    return to


def _paths(folder: Path) -> list[str]:
    """All files, the manifest last: once it is written, all others are."""
    return [*(file.path for file in read_manifest(folder).files), MANIFEST_NAME]


def _to_hub(settings: Settings, folder: Path, to: str, token: str, progress: UploadProgress) -> str:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError

    parts = urlsplit(to)
    repository = parts.path.strip("/")
    if parts.netloc != "datasets" or repository.count("/") != 1:
        raise errors.Invalid({"to": "A repository is hf://datasets/OWNER/NAME."})
    if not settings.hub_url:
        raise errors.Unavailable("This deployment calls no hub. Set DYNABENCH_HUB_URL.")
    api = HfApi(endpoint=settings.hub_url.rstrip("/"), token=token or None)
    digest = read_manifest(folder).digest
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        commit = api.upload_folder(
            repo_id=repository, repo_type="dataset", folder_path=folder, commit_message=f"Release sha256:{digest}",
        )  # fmt: skip
    except (HfHubHTTPError, OSError) as problem:
        raise errors.Unavailable(f"{settings.hub_url} takes no files: {str(problem)[:300]}") from None
    progress(1, 1)
    return f"{settings.hub_url.rstrip('/')}/datasets/{repository}/tree/{commit.oid}"


MAX_LINE_BYTES = archive.MOST_LINE


def to_archive(folder: Path, path: Path) -> ReleaseManifest:
    """Write the archive of the task that a release in `folder` belongs to; return the release's manifest. The task
    has one round, which is released, with the examples of the public parts. Raises `Invalid` under `folder` for a
    folder that is no release, or was changed.
    """
    release_manifest = read_manifest(folder)
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

    def train(self, shape: Shape, weight: float = 1.0) -> Part:
        """Return the train rows as a part of a mix."""
        return Part(self.name, self.rows("train", shape), weight, self.config.data.licence)

    def held_out_rows(self, shape: Shape) -> Rows:
        """Return the rows of dev and test, which no model may train on."""
        return [*self.rows("dev", shape), *self.rows("test", shape)]


def read_release(folder: Path) -> TrainableRelease:
    """Return the release in a folder, after a check of its files. Raises `Invalid` under `folder`."""
    release_manifest = read_manifest(folder)
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
