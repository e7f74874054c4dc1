"""Contents of a task's archive: a zip file whose `manifest.json` names each other file with its SHA-256.

`task.yaml` is the newest config; `versions/0001.yaml` and so on are all of them.
The lists hold one JSON object per line. `media/` has the files that rows show, named by their SHA-256.
Examples are rows as exports write them. See docs/reference/archives.md.
"""

import hashlib
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Any, Literal, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from dynabench.datasets import rows
from dynabench.datasets.rows import Moment
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.tables import NAME
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.models import archives
from dynabench.rounds.plan import PlannedRound
from dynabench.rounds.tables import RoundState

FORMAT = "dynabench-task"
MANIFEST, TASK, VERSIONS = "manifest.json", "task.yaml", "versions.jsonl"
ROUNDS, CONTEXTS, SEEDS, EXAMPLES = "rounds.jsonl", "contexts.jsonl", "seeds.jsonl", "examples.jsonl"
DATASETS = "datasets.jsonl"
LISTS = (VERSIONS, ROUNDS, CONTEXTS, SEEDS, EXAMPLES, DATASETS)
RECORDS = ("onboarding.jsonl", "controls.jsonl", "exclusions.jsonl", "pay.jsonl")
"""Lists of records about people (`archives.records`); one without rows is left out."""
DATA = re.compile(rf"datasets/{NAME[1:-1]}\.jsonl")
CONFIG = re.compile(r"versions/\d{4}\.yaml")
MEDIA = re.compile(r"media/([0-9a-f]{64})")
MOST_VERSIONS, MOST_ROUNDS, MOST_MEDIA, MOST_DATASETS = 1_000, 1_000, 18_000, 500
MOST_FILES = MOST_VERSIONS + MOST_MEDIA + MOST_DATASETS + 20
MOST_BYTES = 8 * 1024**3
"""Of all files, unpacked."""
MOST_MANIFEST, MOST_CONFIG, MOST_LINE = 8 * 1024**2, 400_000, 8 * 1024**2
"""Bytes of the manifest, of a config, and of one line."""


def media_file(digest: str) -> str:
    """Return the path in the archive of a file that rows show."""
    return f"media/{digest}"


def data_file(name: str) -> str:
    """Return the path in the archive of the rows of a dataset."""
    return f"datasets/{name}.jsonl"


def config_file(number: int) -> str:
    """Return the path in the archive of version `number` of the config."""
    return f"versions/{number:04d}.yaml"


class ArchivePart(StrictModel):
    """A part of an archive; members that are not known are refused."""


class ArchiveFile(ArchivePart):
    """A file of the archive."""

    name: Annotated[str, Field(max_length=100)]
    bytes: Annotated[int, Field(ge=0, le=MOST_BYTES)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    rows: Annotated[int, Field(ge=0)] | None = None

    @model_validator(mode="after")
    def _check_name(self) -> "ArchiveFile":
        media = MEDIA.fullmatch(self.name)
        if media and media[1] != self.sha256:
            raise ValueError("a file that rows show is called by its SHA-256")
        many = (CONFIG, DATA)
        if (
            self.name not in (TASK, *LISTS, *RECORDS)
            and not media
            and not any(pattern.fullmatch(self.name) for pattern in many)
        ):
            raise ValueError("an archive has no such file")
        return self


class Manifest(ArchivePart):
    """The task that an archive holds, and the list of the archive's files."""

    format: Literal["dynabench-task"]
    version: Literal[1]
    task: Annotated[str, Field(max_length=60)]
    name: Annotated[str, Field(max_length=1000)]
    files: Annotated[list[ArchiveFile], Field(max_length=MOST_FILES)]

    @model_validator(mode="after")
    def _whole(self) -> "Manifest":
        names = [file.name for file in self.files]
        if len(set(names)) < len(names) or {TASK, *LISTS} - set(names):
            raise ValueError("a file is missing or named twice")
        if sum(file.bytes for file in self.files) > MOST_BYTES:
            raise ValueError("its files are too large together")
        return self

    @property
    def rows(self) -> dict[str, int]:
        """The number of rows of each list, by the list's name without its ending."""
        return {
            file.name.removesuffix(".jsonl"): file.rows or 0 for file in self.files if file.name in (*LISTS, *RECORDS)
        }


class ArchivedVersion(ArchivePart):
    """A version of the config; its text is a file of its own."""

    number: Annotated[int, Field(ge=1, le=9999)]
    created_at: Moment


class ArchivedTarget(ArchivePart):
    """A model version in the loop."""

    model: Annotated[str, Field(min_length=1, max_length=100)]
    version: Annotated[str, Field(max_length=64)]


class ArchivedArm(ArchivePart):
    """A condition of a round that was opened."""

    model_config = ConfigDict(extra="allow")

    name: Annotated[str, Field(min_length=1, max_length=40)]
    share: Annotated[int | float, Field(gt=0, le=1e6, allow_inf_nan=False)] = 1
    targets: Annotated[str, Field(max_length=100)] | Annotated[list[ArchivedTarget], Field(max_length=100)] = "round"


class ArchivedRound(ArchivePart):
    """A round; its plan is without dates and chosen contexts, which hold of one deployment at one time."""

    number: Annotated[int, Field(ge=1, le=100_000)]
    version: Annotated[int, Field(ge=1, le=9999)]
    state: RoundState
    ensemble: Literal["any", "majority", "all"]
    arms: Annotated[list[ArchivedArm], Field(max_length=100)]
    assign: Literal["item", "person"] = "item"
    targets: Annotated[list[ArchivedTarget], Field(max_length=100)]
    judge: ArchivedTarget | None = None
    plan: PlannedRound = PlannedRound()
    vote_weight: Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)] | None = None
    created_at: Moment
    opened_at: Moment | None
    closed_at: Moment | None


class ArchivedContext(ArchivePart):
    """A context."""

    values: dict[str, Any]
    tag: Annotated[str, Field(max_length=100)] = ""
    language: Annotated[str, Field(max_length=12)] = ""
    weight: Annotated[float, Field(ge=0, le=1_000, allow_inf_nan=False)] = 1.0
    retired: bool = False


class ArchivedSeed(ArchivePart):
    """A text to start from."""

    context: dict[str, Any]
    input: dict[str, Any]
    answer: dict[str, Any] | None = None
    tag: Annotated[str, Field(max_length=100)] = ""


class ArchivedDataset(DatasetSettings):
    """A public dataset; its rows, `Row`, are a file of their own."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(pattern=NAME)]
    visibility: Literal["public"] = "public"
    retired: bool = False


class ArchivedRow(ArchivePart):
    """A row of a dataset, as its files have it."""

    uid: str
    inputs: dict[str, Any]
    answers: list[dict[str, Any]]
    tags: list[str] = Field([])


BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)
PIECE = 1024**2
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
P = TypeVar("P", bound=BaseModel)
ReadProgress = Callable[[int], object]
"""Called with how many bytes, unpacked, are read."""


def refusal(message: str) -> errors.Invalid:
    """The refusal of an archive."""
    return errors.Invalid({"file": message}, message)


class Archive:
    """An archive that is open. Raises `Invalid` under `file` for what is none, or was changed."""

    def __init__(self, file: IO[bytes]) -> None:
        try:
            archives.check_zip_end(file, MOST_FILES)
            self.zip = zipfile.ZipFile(file)
        except BROKEN as problem:
            raise refusal(_("This is not a task archive: %(value)s.", value=str(problem)[:200])) from None
        self.entries = self._entries()
        self.manifest = self._manifest()
        self.files = {entry.name: entry for entry in self.manifest.files}
        if extra := self.entries.keys() ^ {MANIFEST, *self.files}:
            raise refusal(_("The manifest and the files do not match: %(value)s.", value=repr(sorted(extra)[0][:100])))

    def _entries(self) -> dict[str, zipfile.ZipInfo]:
        entries: dict[str, zipfile.ZipInfo] = {}
        for entry in self.zip.infolist():
            if entry.filename in entries:
                raise refusal(_("Two files have the same name: %(value)s.", value=repr(entry.filename[:100])))
            if entry.flag_bits & 1 or entry.compress_type not in METHODS:
                raise refusal(_("%(value)s uses an unsupported compression.", value=repr(entry.filename[:100])))
            entries[entry.filename] = entry
        return entries

    def _manifest(self) -> Manifest:
        if MANIFEST not in self.entries:
            raise refusal(_("This is not a task archive: it has no manifest.json."))
        try:
            return Manifest.model_validate_json(self._small(MANIFEST, MOST_MANIFEST))
        except ValidationError as problem:
            first = problem.errors()[0]
            where = ".".join(map(str, first["loc"])) or "it"
            raise refusal(
                _("The manifest cannot be read: %(where)s: %(value)s.", where=where, value=first["msg"][:200])
            ) from None

    def _small(self, name: str, most: int) -> bytes:
        """A small file, whole."""
        try:
            with self.zip.open(self.entries[name]) as file:
                content = file.read(most + 1)
        except BROKEN as problem:
            raise refusal(_("%(name)s cannot be read: %(value)s.", name=name, value=str(problem)[:200])) from None
        if len(content) > most:
            raise refusal(_("%(name)s is too large.", name=name))
        return content

    def config(self, number: int) -> str:
        """The text of a version of the config."""
        name = config_file(number)
        if name not in self.files:
            raise refusal(_("%(name)s is missing.", name=name))
        return self._text(name)

    def newest(self) -> str:
        """The text of the newest config."""
        return self._text(TASK)

    def content(self, name: str, most: int) -> bytes:
        """A file of up to `most` bytes, whole, if it is what the manifest says."""
        content_bytes = self._small(name, most)
        self._compare(self.files[name], len(content_bytes), hashlib.sha256(content_bytes).hexdigest())
        return content_bytes

    def _text(self, name: str) -> str:
        try:
            return self.content(name, MOST_CONFIG).decode()
        except UnicodeDecodeError:
            raise refusal(_("%(name)s is not valid UTF-8.", name=name)) from None

    def rows(self, name: str, progress: ReadProgress = lambda _: None) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of a list with their numbers from 1; its hash is compared once all were read."""
        digest, size, number = hashlib.sha256(), 0, 0
        try:
            with self.zip.open(self.entries[name]) as file:
                while line := file.readline(MOST_LINE + 1):
                    number, size = number + 1, size + len(line)
                    if len(line) > MOST_LINE or size > self.files[name].bytes:
                        raise refusal(
                            _(
                                "%(name)s, line %(number)s: the file is longer than the manifest says.",
                                name=name,
                                number=number,
                            )
                        )
                    digest.update(line)
                    yield number, self._object(name, number, line)
                    progress(len(line))
        except BROKEN as problem:
            raise refusal(
                _(
                    "%(name)s cannot be read after line %(number)s: %(value)s.",
                    name=name,
                    number=number,
                    value=str(problem)[:200],
                )
            ) from None
        self._compare(self.files[name], size, digest.hexdigest())

    def _object(self, name: str, number: int, line: bytes) -> dict[str, Any]:
        try:
            values = orjson.loads(line)
        except orjson.JSONDecodeError:
            values = None
        if not isinstance(values, dict):
            raise refusal(_("%(name)s, line %(number)s: not a JSON object.", name=name, number=number))
        try:
            rows.check_storable(values)
        except errors.Invalid as problem:
            raise refusal(f"{name}, line {number}: {problem.detail}") from None
        return values

    def parts(self, name: str, kind: type[P], progress: ReadProgress = lambda _: None) -> Iterator[tuple[int, P]]:
        """The rows of a list as `kind`."""
        for number, values in self.rows(name, progress):
            try:
                yield number, kind.model_validate(values)
            except ValidationError as problem:
                first = problem.errors()[0]
                text = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
                raise refusal(
                    _("%(name)s, line %(number)s: %(text)s.", name=name, number=number, text=text[:300])
                ) from None

    def _compare(self, file: ArchiveFile, size: int, digest: str) -> None:
        if (size, digest) != (file.bytes, file.sha256):
            raise refusal(_("%(name)s does not match the manifest: it was changed or is incomplete.", name=file.name))


@contextmanager
def open_archive(path: Path) -> Iterator[Archive]:
    """The archive at a path."""
    with path.open("rb") as file:
        yield Archive(file)
