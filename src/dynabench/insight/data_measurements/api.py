"""Data measurements of rounds as JSON: aggregates over at least five writers."""

from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session

from dynabench.insight.data_measurements import formatting, schemas, service
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.rounds.schemas import Number

router = APIRouter(prefix="/api/v1", tags=["measures"], dependencies=[Depends(scope("manage"))])


@router.get("/tasks/{task}/measures")
async def read_measures(request: Request, task: str, viewer: Viewer) -> schemas.RoundsOut:
    """Return the data measurements of each round of a task."""
    measurements = await request.app.state.db.aread(service.task_measurements, task)
    return schemas.RoundsOut.model_validate(
        {"items": [formatting.round_document(measurement) for measurement in measurements]}
    )


@router.get("/tasks/{task}/rounds/{n}/measures")
async def read_round_measures(request: Request, task: str, n: Number, viewer: Viewer) -> schemas.MeasuresOut:
    """Return the data measurements of a round."""
    measurement = await request.app.state.db.aread(service.round_measurements, task, n)
    return schemas.MeasuresOut.model_validate(formatting.round_document(measurement))


@router.post("/tasks/{task}/rounds/{n}/measures", status_code=202)
async def measure_round(request: Request, task: str, n: Number, person: Member) -> schemas.MeasuresOut:
    """Have the worker measure a round (owners); while it does, asking again changes nothing."""

    def begin(session: Session) -> service.RoundMeasurements:
        service.request_measurement(session, person, task, n)
        return service.round_measurements(session, task, n)

    measurement = await request.app.state.db.awrite(begin)
    return schemas.MeasuresOut.model_validate(formatting.round_document(measurement))
