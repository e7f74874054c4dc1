"""Schemas of the JSON API of data measurements."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field


class MeasurementOut(BaseModel):
    """A number with its 95% interval, where it has one; `n` counts what it is of."""

    name: str
    label: str
    value: float | None
    low: float | None
    high: float | None
    n: int | None
    kind: str = Field(description="share, number, count or p")


class ColumnOut(BaseModel):
    """A column of a table."""

    name: str
    label: str
    kind: str


class TableOut(BaseModel):
    """Rows of values in the order of the columns; `people` counts the writers behind each row."""

    name: str
    title: str
    columns: list[ColumnOut]
    rows: list[list[Any]]
    people: list[int]


class MeasureOut(BaseModel):
    """The result of one measure; `people` counts the writers behind it."""

    name: str
    title: str
    about: str
    finding: str
    figures: list[MeasurementOut]
    tables: list[TableOut]
    people: int
    note: str


class MeasuresOut(BaseModel):
    """The data measurements of a round, by the `examples` measured of `total`.

    `kept_back` names measures with too few writers, `outdated` says that the round has changed since, `measuring`
    that it is being measured.
    """

    round: int
    examples: int
    total: int
    measured_at: datetime | None
    outdated: bool
    measuring: bool
    kept_back: list[str]
    measures: list[MeasureOut]


class RoundsOut(BaseModel):
    """The rounds of a task, the oldest first."""

    items: list[MeasuresOut]
    next: None = None
