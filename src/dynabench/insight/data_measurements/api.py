"""Data measurements of rounds as JSON: aggregates over at least five writers."""

from datetime import datetime
from typing import Any

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.insight.data_measurements import formatting, service
from dynabench.kit.api import Db
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.rounds.schemas import Number


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


router = APIRouter(prefix="/api/v1", tags=["measures"], dependencies=[Depends(scope("manage"))])


@router.get("/tasks/{task}/measures")
async def read_measures(db: Db, task: str, viewer: Viewer) -> RoundsOut:
    """Return the data measurements of each round of a task."""
    measurements = await db.aread(service.task_measurements, task)
    return RoundsOut.model_validate({"items": [formatting.round_document(measurement) for measurement in measurements]})


@router.get("/tasks/{task}/rounds/{n}/measures")
async def read_round_measures(db: Db, task: str, n: Number, viewer: Viewer) -> MeasuresOut:
    """Return the data measurements of a round."""
    measurement = await db.aread(service.round_measurements, task, n)
    return MeasuresOut.model_validate(formatting.round_document(measurement))


@router.post("/tasks/{task}/rounds/{n}/measures", status_code=202)
async def measure_round(db: Db, task: str, n: Number, person: Member) -> MeasuresOut:
    """Have the worker measure a round (owners); while it does, asking again changes nothing."""

    def begin(session: Session) -> service.RoundMeasurements:
        service.request_measurement(session, person, task, n)
        return service.round_measurements(session, task, n)

    measurement = await db.awrite(begin)
    return MeasuresOut.model_validate(formatting.round_document(measurement))
