"""Documents of the JSON API about data reports."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from dynabench.insight.data_measurements.api import ColumnOut, MeasurementOut
from dynabench.kit.schemas import Page, RowModel, StrictModel

Name = Field("", max_length=300)


class DataReportIn(StrictModel):
    """Data to measure; columns that are left out are guessed, and `label` "-" means that there is none."""

    data: str = Field(max_length=300, examples=["dataset:sentiment/films"])
    compare: str = Field("", max_length=300, description="Other data to compare with.")
    texts: list[str] = Field([], max_length=50)
    label: str = Name
    split: str = Name
    group: str = Field("", max_length=300, description="A column of groups, for toxicity and sentiment.")
    pairs: list[tuple[str, str]] = Field([], max_length=10, description="Pairs of identity terms.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="The seed of all random samples.")


class MeasuredFileOut(BaseModel):
    """An uploaded file; `data` names it in the request of a report."""

    data: str = Field(examples=["file:0d3c9e0c-5b7a-4d0e-9a52-5d0c4b1f6a11"])
    name: str


class DataReportOut(RowModel):
    """A requested report: its state, and how many of its `steps` are done; `problem` says why it failed."""

    id: str
    name: str
    compared_with: str | None
    state: str = Field(description="queued, running, done, failed or cancelled")
    done: int
    steps: int
    problem: str
    created_at: datetime


class DataReportPage(Page[DataReportOut]):
    """Your reports, newest first."""


class MeasuredFactsOut(BaseModel):
    """The facts about measured data: the digest of its content, its rows and the columns that were read."""

    name: str
    digest: str
    rows: int
    columns: dict[str, Any]


class DataTableOut(BaseModel):
    """Rows of values in the order of the columns."""

    name: str
    title: str
    columns: list[ColumnOut]
    rows: list[list[Any]]


class DataMeasureOut(BaseModel):
    """The result of one measure."""

    name: str
    title: str
    about: str
    finding: str
    figures: list[MeasurementOut]
    tables: list[DataTableOut]
    note: str


class DataReportResultOut(BaseModel):
    """A finished report; `compared` has the measures of both data sets together, where it was compared."""

    facts: MeasuredFactsOut
    other: MeasuredFactsOut | None
    measures: list[DataMeasureOut]
    compared: list[DataMeasureOut]
