"""The full data quality report of a round, for those who run the task, and the request to measure again."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.insight.data_measurements import pages, service
from dynabench.kit.api import Db
from dynabench.kit.forms import redirect
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator, TaskOwner
from dynabench.rounds.schemas import Number

router = APIRouter()
Name = Annotated[str, Path(pattern=r"^[a-z_]{1,40}$")]


@router.get("/tasks/{task}/manage/rounds/{n}/data", name="manage_round_data")
async def data(request: Request, db: Db, task: str, n: Number, person: TaskModerator) -> Response:
    """Show the data quality report of a round, including results that rest on only a few writers."""

    def read(session: Session) -> dict[str, Any]:
        return pages.page_values(session, person, task, n, everything=True)

    values = await db.aread(read)
    return await frame.console_page(request, task, "data_measurements/manage/measured.html", "rounds", **values)


@router.post("/tasks/{task}/manage/rounds/{n}/data", name="measure_round_form")
async def measure(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Have the worker measure the round; while it does, asking again changes nothing."""

    def ask(session: Session) -> None:
        service.request_measurement(session, owner, task, n)

    await db.awrite(ask)
    return redirect(request, "manage_round_data", task=task, n=n)


@router.get("/tasks/{task}/manage/rounds/{n}/data/{measure}/{table}.csv", name="manage_round_data_file")
async def file(db: Db, task: str, n: Number, measure: Name, table: Name, person: TaskModerator) -> Response:
    """One table of a measure, `figures` for its figures, as a sheet."""
    measurements = await db.aread(service.round_measurements, task, n, True)
    return pages.table_file(measurements, task, measure, table)
