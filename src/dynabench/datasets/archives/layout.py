"""Contents of a task's archive: a zip file whose `manifest.json` names each other file with its SHA-256.

`task.yaml` is the newest config; `versions/0001.yaml` and so on are all of them.
The lists hold one JSON object per line. `media/` has the files that rows show, named by their SHA-256.
Examples are rows as exports write them. See docs/reference/archives.md.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from dynabench.datasets.rows import Moment
from dynabench.datasets.schemas import DatasetSettings
from dynabench.datasets.tables import NAME
from dynabench.rounds.plan import Plan
from dynabench.rounds.tables import RoundState

FORMAT = "dynabench-task"
MANIFEST, TASK, VERSIONS = "manifest.json", "task.yaml", "versions.jsonl"
ROUNDS, CONTEXTS, SEEDS, EXAMPLES = "rounds.jsonl", "contexts.jsonl", "seeds.jsonl", "examples.jsonl"
DATASETS = "datasets.jsonl"
LISTS = (VERSIONS, ROUNDS, CONTEXTS, SEEDS, EXAMPLES, DATASETS)
DATA = re.compile(rf"datasets/{NAME[1:-1]}\.jsonl")
CONFIG = re.compile(r"versions/\d{4}\.yaml")
MEDIA = re.compile(r"media/([0-9a-f]{64})")
MOST_VERSIONS, MOST_ROUNDS, MOST_MEDIA, MOST_DATASETS = 1_000, 1_000, 18_000, 500
MOST_FILES = MOST_VERSIONS + MOST_MEDIA + MOST_DATASETS + 10
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


class ArchivePart(BaseModel):
    """A part of an archive; members that are not known are refused."""

    model_config = ConfigDict(extra="forbid")


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
        if self.name not in (TASK, *LISTS) and not media and not any(pattern.fullmatch(self.name) for pattern in many):
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
        return {file.name.removesuffix(".jsonl"): file.rows or 0 for file in self.files if file.name in LISTS}


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
    plan: Plan = Plan()
    created_at: Moment
    opened_at: Moment | None
    closed_at: Moment | None


class ArchivedContext(ArchivePart):
    """A context."""

    values: dict[str, Any]
    tag: Annotated[str, Field(max_length=100)] = ""
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
    tags: list[str] = []
