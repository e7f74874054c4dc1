"""Pages of a round's data measurements: for everybody, and for those who run the task; tables as files."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import content_warning, overview
from dynabench.insight.data_measurements import formatting, service
from dynabench.insight.data_measurements.measures import MEASURES
from dynabench.insight.data_measurements.results import LEAST, Table
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.forms import redirect
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people, views
from dynabench.rounds import service as rounds
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskModerator, TaskOwner
from dynabench.rounds.schemas import Number
from dynabench.web import render

router = APIRouter(include_in_schema=False, dependencies=[Depends(people.load_actions)])

Name = Annotated[str, Path(pattern=r"^[a-z_]{1,40}$")]
ACROSS = ("measure", "figure", "round", "value", "low", "high", "n")

model_tables: list[Callable[[Session, Person | None, str, int], Table | None]] = []
"""Functions of higher packages that return a table of models on a round, from the viewer, the task and the round."""


def page_values(session: Session, viewer: Person | None, task: str, n: int, everything: bool = False) -> dict[str, Any]:
    """Return the values that `data_measurements/_data.html` expects."""
    of_all = service.task_measurements(session, task, everything)
    current = next((measurements for measurements in of_all if measurements.round == n), None)
    if current is None:
        raise errors.NotFound("There is no such round of this task.")
    models = [] if everything else [read(session, viewer, task, n) for read in model_tables]
    return {
        "shown": current,
        "rounds": of_all,
        "across": formatting.compare_rounds(of_all),
        "later": next((table for table in models if table is not None), None),
        "measures": MEASURES,
        "chart": formatting.table_chart,
        "header": formatting.table_header,
        "lines": formatting.table_lines,
        "formatting": formatting,
        "least": LEAST,
    }


@router.get("/tasks/{task}/rounds/{n}/data", name="round_data")
async def data(request: Request, db: Db, task: str, n: Number, viewer: Viewer) -> Response:
    """Show the data measurements of a round, and how rounds differ."""
    if warning := await content_warning.warn(request, task):
        return warning

    def read(session: Session) -> dict[str, Any]:
        current = overview.chosen_round(session, task, n)
        config = rounds.config_of(session, current.version_id)
        return {"config": config, "round": views.round_out(session, current), **page_values(session, viewer, task, n)}

    values = await db.aread(read)
    return render(request, "data_measurements/data.html", task=task, **values)


@router.get("/tasks/{task}/rounds/{n}/data/{measure}/{table}.csv", name="round_data_file")
async def file(db: Db, task: str, n: Number, measure: Name, table: Name, viewer: Viewer) -> Response:
    """One table of a measure, `figures` for its figures, as a sheet."""
    measurements = await db.aread(service.round_measurements, task, n)
    return table_file(measurements, task, measure, table)


def table_file(measurements: service.RoundMeasurements, task: str, measure: str, table: str) -> Response:
    """Return a table of the visible results as CSV; raise `NotFound` for an unknown table."""
    result = measurements.results.get(measure)
    name = f"{task}-round-{measurements.round}-{measure}-{table}.csv"
    if result is not None and table == "figures":
        lines = [[item.name, item.label, item.value, item.low, item.high, item.n] for item in result.figures]
        return csv_response(name, ["name", "label", "value", "low", "high", "n"], lines)
    table_ = next((item for item in result.tables if item.name == table), None) if result else None
    if table_ is None:
        raise errors.NotFound("There is no such table of this round.")
    return csv_response(name, [item.name for item in table_.columns], table_.rows)


@router.get("/tasks/{task}/rounds.csv", name="rounds_file")
async def across(db: Db, task: str, viewer: Viewer) -> Response:
    """All figures of all rounds, a line each."""
    rounds_ = await db.aread(service.task_measurements, task)
    lines = [
        [name, figure.name, measurements.round, figure.value, figure.low, figure.high, figure.n]
        for measurements in rounds_
        for name, result in measurements.results.items()
        for figure in result.figures
    ]
    return csv_response(f"{task}-rounds.csv", ACROSS, lines)


console = APIRouter()


@console.get("/tasks/{task}/manage/rounds/{n}/data", name="manage_round_data")
async def show_console_data(request: Request, db: Db, task: str, n: Number, person: TaskModerator) -> Response:
    """Show the data quality report of a round, including results that rest on only a few writers."""

    def read(session: Session) -> dict[str, Any]:
        return page_values(session, person, task, n, everything=True)

    values = await db.aread(read)
    return await frame.console_page(request, task, "data_measurements/manage/measured.html", "rounds", **values)


@console.post("/tasks/{task}/manage/rounds/{n}/data", name="measure_round_form")
async def measure_again(request: Request, db: Db, task: str, n: Number, owner: TaskOwner) -> Response:
    """Have the worker measure the round; while it does, asking again changes nothing."""

    def ask(session: Session) -> None:
        service.request_measurement(session, owner, task, n)

    await db.awrite(ask)
    return redirect(request, "manage_round_data", task=task, n=n)


@console.get("/tasks/{task}/manage/rounds/{n}/data/{measure}/{table}.csv", name="manage_round_data_file")
async def download_console_table(
    db: Db, task: str, n: Number, measure: Name, table: Name, person: TaskModerator
) -> Response:
    """One table of a measure, `figures` for its figures, as a sheet."""
    measurements = await db.aread(service.round_measurements, task, n, True)
    return table_file(measurements, task, measure, table)


overview.data_findings.append(service.data_findings)
