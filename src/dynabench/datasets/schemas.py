"""Request and response bodies of the JSON API of datasets, their imports and their twins."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, StringConstraints

from dynabench.datasets.intake.layout import FileLayout
from dynabench.datasets.twins import DEFAULT_COPIES, MOST_COPIES, MOST_SEED
from dynabench.kit.schemas import Page, RowModel, StrictModel
from dynabench.kit.storable import UNSTORABLE


class PlanIn(StrictModel):
    """The way to read a file.

    `into` is examples, contexts or seeds. `format` is auto, own, squad, the name of a preset, or mapping.
    `mapping` is a document of columns, or its YAML; it takes the place of `format`.
    """

    into: Annotated[str, Field(max_length=20)] = "examples"
    format: Annotated[str, Field(max_length=20)] = "auto"
    mapping: dict[str, Any] | Annotated[str, Field(max_length=100_000)] | None = None


class StartIn(PlanIn):
    """Start the import of a file that was sent before, with `wait`."""

    file: Annotated[str, Field(max_length=40)]


class HubDataset(StrictModel):
    """A dataset of the hub."""

    dataset: Annotated[str, Field(max_length=200)]
    config: Annotated[str, Field(max_length=100)] = ""
    split: Annotated[str, Field(max_length=100)] = ""
    revision: Annotated[str, Field(max_length=100)] = ""


class HubIn(HubDataset, PlanIn):
    """Import a dataset of the hub by its id."""


class PreviewRow(BaseModel):
    """A row of the preview: as it would be stored, or why it would not."""

    row: int
    values: dict[str, Any] | None = None
    error: str = ""


class ImportPreviewOut(BaseModel):
    """A file that waits: its id for `start`, what it looks like, and its first rows under the plan."""

    file: str
    name: str
    format: str
    columns: list[str]
    rows: list[PreviewRow]
    problem: str = ""


class DataImportOut(BaseModel):
    """An import: `queued`, `running`, `done`, `failed` or `cancelled`, with its progress, result or error."""

    id: str
    name: str = ""
    into: str = ""
    state: str
    progress: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: str | None = None


class DataImportPage(Page[DataImportOut]):
    """A page of a task's imports, newest first."""


def _whole(text: str) -> str:
    if UNSTORABLE.search(text):
        raise ValueError("Remove control characters.")
    return text


Language = Annotated[str, StringConstraints(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)]
Line = Annotated[str, StringConstraints(strip_whitespace=True), AfterValidator(_whole)]
Visibility = Literal["hidden", "scoring", "public"]
Kind = Literal["rows", "suite", "pool"]
Tolerance = Literal["none", "few", "any"]


class DatasetSettings(BaseModel):
    """The description and settings that owners give a dataset."""

    title: Annotated[Line, Field(max_length=200)] = ""
    card: Annotated[str, Field(max_length=50_000), AfterValidator(_whole)] = ""
    licence: Annotated[Line, Field(max_length=100)] = ""
    source: Annotated[Line, Field(max_length=500)] = ""
    languages: Annotated[list[Language], Field(max_length=50)] = []
    visibility: Visibility = "hidden"
    kind: Kind = "rows"
    weight: Annotated[int, Field(ge=0, le=100)] = 5


class DatasetChange(StrictModel):
    """Changes to a dataset; an absent value stays as it is."""

    title: Annotated[Line, Field(min_length=1, max_length=200)] | None = None
    card: Annotated[str, Field(max_length=50_000), AfterValidator(_whole)] | None = None
    licence: Annotated[Line, Field(max_length=100)] | None = None
    source: Annotated[Line, Field(max_length=500)] | None = None
    languages: Annotated[list[Language], Field(max_length=50)] | None = None
    visibility: Visibility | None = None
    weight: Annotated[int, Field(ge=0, le=100)] | None = None
    retired: bool | None = None


class VersionIn(StrictModel):
    """Rows for a new version: a `file` that waits, or a dataset of the `hub`; `layout` is guessed where it is absent.

    `tolerance` says how many rows may be refused: `none`, `few` (1%) or `any`.
    """

    file: Annotated[str, Field(max_length=40)] = ""
    hub: HubDataset | None = None
    layout: FileLayout | None = None
    tolerance: Tolerance = "few"


class DatasetIn(DatasetSettings, VersionIn):
    """A new dataset with its first version."""

    name: Annotated[str, Field(max_length=62)]


class FileIn(StrictModel):
    """A file that waits, to be looked at under a layout."""

    file: Annotated[str, Field(max_length=40)]
    layout: FileLayout | None = None


class DatasetRow(BaseModel):
    """A row as it is stored."""

    uid: str
    inputs: dict[str, Any]
    answers: list[dict[str, Any]]
    tags: list[str]


class SampleRow(BaseModel):
    """A row of a file that waits: as it would be stored, or why it would not."""

    row: int
    stored: DatasetRow | None = None
    error: str = ""


class SampleOut(BaseModel):
    """A file that waits: its columns, the layout it is read by, and its first rows; `problems` by field."""

    file: str
    name: str
    columns: list[str]
    layout: FileLayout
    rows: list[SampleRow]
    values: list[str] = []
    notes: dict[str, int] = {}
    problems: dict[str, str] = {}


class DatasetVersionOut(BaseModel):
    """A version: `reading`, `ready` or `failed` with the reason."""

    number: int
    state: str
    digest: str
    rows: int
    slices: dict[str, int]
    reason: str = ""
    created_at: datetime
    refused: int | None = None
    progress: dict[str, int] | None = None


class DatasetOut(BaseModel):
    """A dataset as the viewer may see it; `version` is the newest that is ready."""

    task: str
    name: str
    title: str
    kind: str
    visibility: str
    licence: str
    languages: list[str]
    source: str
    weight: int
    retired: bool
    created_at: datetime
    version: DatasetVersionOut | None = None


class DatasetFull(DatasetOut):
    """A dataset with its card and all versions that the viewer may see, newest first."""

    card: str
    versions: list[DatasetVersionOut]
    warning: str = ""


class DatasetPage(Page[DatasetOut]):
    """Datasets by task and name; `hidden` is how many of the task are hidden from everybody."""

    hidden: int | None = None


Axis = Literal["fairness", "robustness"]


class TwinIn(StrictModel):
    """Make an axis's copies anew. Without `transformations`, all of the axis; `copies` of each row at most."""

    axis: Axis
    seed: Annotated[int, Field(ge=0, le=MOST_SEED)] = 0
    transformations: list[Annotated[str, Field(max_length=60)]] = Field(default_factory=list, max_length=100)
    copies: Annotated[int, Field(ge=1, le=MOST_COPIES)] = DEFAULT_COPIES


class TwinOut(RowModel):
    """A twin: `state` is reading, ready or failed; `transformations` says how many rows each made."""

    id: int
    axis: str
    origin: str
    state: str
    seed: int
    digest: str
    rows: int
    transformations: dict[str, int]
    reason: str
    created_at: datetime
    replaced_at: datetime | None


class TwinsOut(BaseModel):
    """The twins of a dataset's newest version: by axis the one that counts and, for owners, the last one asked for."""

    items: list[TwinOut]
    next: None = None


class PairOut(BaseModel):
    """A copy beside its original."""

    number: int
    uid: str
    original_uid: str = Field(alias="of")
    transformation: str
    original: dict[str, Any]
    inputs: dict[str, Any]
    answers: list[dict[str, Any]]


class PairPage(Page[PairOut]):
    """A page of copies."""
