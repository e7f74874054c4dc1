"""Request and response bodies of the JSON API of dataset imports."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """A body in which unknown members are refused."""

    model_config = ConfigDict(extra="forbid")


class PlanIn(Strict):
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


class HubIn(PlanIn):
    """Import a dataset of the hub by its id."""

    dataset: Annotated[str, Field(max_length=200)]
    config: Annotated[str, Field(max_length=100)] = ""
    split: Annotated[str, Field(max_length=100)] = ""
    revision: Annotated[str, Field(max_length=100)] = ""


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


class DataImportPage(BaseModel):
    """A page of a task's imports, newest first."""

    items: list[DataImportOut]
    next: str | None
