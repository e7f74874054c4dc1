"""The page of what a round's data are like, and its tables as files."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench import errors
from dynabench.accounts.auth import Viewer
from dynabench.accounts.tables import Person
from dynabench.collection import content_warning, overview
from dynabench.measuring import drawings, later, service, written
from dynabench.measuring.found import LEAST
from dynabench.measuring.measures import measures
from dynabench.rounds import seats, views
from dynabench.rounds import service as rounds
from dynabench.rounds.schemas import Number
from dynabench.web import render
from dynabench.web.sheets import csv_file

router = APIRouter(include_in_schema=False, dependencies=[Depends(seats.know)])

Name = Annotated[str, Path(pattern=r"^[a-z_]{1,40}$")]
ACROSS = ("measure", "figure", "round", "value", "low", "high", "n")


def told(session: Session, viewer: Person | None, task: str, n: int, everything: bool = False) -> dict[str, Any]:
    """What `measuring/_data.html` expects of a round."""
    of_all = service.of_task(session, task, everything)
    shown = next((each for each in of_all if each.round == n), None)
    if shown is None:
        raise errors.NotFound("There is no such round of this task.")
    models = None if everything else later.later(session, viewer, task, n)
    return {
        "shown": shown,
        "rounds": of_all,
        "across": written.across(of_all),
        "later": models,
        "measures": measures(),
        "chart": drawings.chart,
        "header": drawings.header,
        "lines": drawings.lines,
        "written": written,
        "least": LEAST,
    }


@router.get("/tasks/{task}/rounds/{n}/data", name="round_data")
async def data(request: Request, task: str, n: Number, viewer: Viewer) -> Response:
    """What the data of a round are like, and how rounds differ."""
    if warning := await content_warning.warn(request, task):
        return warning

    def read(session: Session) -> dict[str, Any]:
        current = overview.chosen_round(session, task, n)
        config = rounds.config_of(session, current.version_id)
        return {"config": config, "round": views.round_out(session, current), **told(session, viewer, task, n)}

    values = await request.app.state.db.aread(read)
    return render(request, "measuring/data.html", task=task, **values)


@router.get("/tasks/{task}/rounds/{n}/data/{measure}/{table}.csv", name="round_data_file")
async def file(request: Request, task: str, n: Number, measure: Name, table: Name, viewer: Viewer) -> Response:
    """One table of a measure, `figures` for its figures, as a sheet."""
    found = await request.app.state.db.aread(service.shown, task, n)
    return sent(found, task, measure, table)


def sent(shown: service.Shown, task: str, measure: str, table: str) -> Response:
    """The sheet of what is shown; raises `NotFound` where that has no such table."""
    found = shown.found.get(measure)
    name = f"{task}-round-{shown.round}-{measure}-{table}.csv"
    if found is not None and table == "figures":
        lines = [[each.name, each.label, each.value, each.low, each.high, each.n] for each in found.figures]
        return csv_file(name, ["name", "label", "value", "low", "high", "n"], lines)
    chosen = next((each for each in found.tables if each.name == table), None) if found else None
    if chosen is None:
        raise errors.NotFound("There is no such table of this round.")
    return csv_file(name, [each.name for each in chosen.columns], chosen.rows)


@router.get("/tasks/{task}/rounds.csv", name="rounds_file")
async def across(request: Request, task: str, viewer: Viewer) -> Response:
    """All figures of all rounds, a line each."""
    found = await request.app.state.db.aread(service.of_task, task)
    lines = [
        [name, figure.name, each.round, figure.value, figure.low, figure.high, figure.n]
        for each in found
        for name, one in each.found.items()
        for figure in one.figures
    ]
    return csv_file(f"{task}-rounds.csv", ACROSS, lines)
