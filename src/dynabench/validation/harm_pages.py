"""The board of harms: as a page, as JSON, as CSV; and for owners and moderators the examples behind a number."""

from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import content_warning, overview, search
from dynabench.kit import errors
from dynabench.kit.api import csv_response
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import seats, views
from dynabench.rounds.tables import RoundState
from dynabench.validation import harms
from dynabench.validation.harm_schemas import HarmfulOut, HarmOut, HarmsOut
from dynabench.web import render

api = APIRouter()
pages = APIRouter(include_in_schema=False, dependencies=[Depends(seats.know)])

Number = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]
Text = Annotated[str, Query(max_length=200)]
SHOWN = 50
HEADER = ("model", "version", "by", "value", "label", "count", "attempts", "share", "low", "high")


@api.get("/tasks/{task}/harms")
async def read_harms(request: Request, task: str, viewer: Viewer, number: Number = None) -> HarmsOut:
    """Return the harms that people made a task's models do.

    Shares of attempts, by category and severity, with intervals.
    """
    return await _told(request, task, number)


@pages.get("/tasks/{task}/harms", name="harms")
async def show(
    request: Request,
    task: str,
    viewer: Viewer,
    number: Number = None,
    model: Text = "",
    version: Text = "",
    category: Text = "",
    severity: Text = "",
) -> Response:
    """The board; with a model, those of its harmful examples that are of a category or severity."""
    if warning := await content_warning.warn(request, task):
        return warning
    asked = {"model": model, "version": version, "category": category, "severity": severity}

    def read(session: Session) -> dict[str, Any]:
        found = harms.found(session, task, number)
        started = overview.started(session, task)
        current = next((each for each in started if each.state == RoundState.OPEN), started[0] if started else None)
        return {
            "config": found.config,
            "round": views.round_out(session, current) if current else None,
            "numbers": [each.number for each in started],
            "told": harms.told(found),
            "behind": _behind(session, viewer, task, found, asked) if model else None,
        }

    values = await request.app.state.db.aread(read)
    return render(request, "validation/harms.html", task=task, number=number, asked=asked, **values)


@pages.get("/tasks/{task}/harms.csv", name="harms_csv")
async def download(request: Request, task: str, viewer: Viewer, number: Number = None) -> Response:
    """The board as a table: for each model one line, and one for each category and severity."""
    told = await _told(request, task, number)
    return csv_response(f"{task}-harms.csv", HEADER, [line for each in told.models for line in _lines(each)])


def _lines(of: HarmfulOut) -> Iterator[list[object]]:
    yield [of.model, of.version, "all", *_cells(of.harmful, of.attempts)]
    for by, lines in (("category", of.categories), ("severity", of.severities)):
        for line in lines:
            yield [of.model, of.version, by, *_cells(line, of.attempts)]


def _cells(line: HarmOut, attempts: int) -> list[object]:
    rate = line.rate
    return [line.value, line.label, line.count, attempts, rate.value, rate.low, rate.high]


async def _told(request: Request, task: str, number: int | None) -> HarmsOut:
    return harms.told(await request.app.state.db.aread(harms.found, task, number))


def _behind(
    session: Session, viewer: Person | None, task: str, found: harms.Found, asked: dict[str, str]
) -> list[search.Seen]:
    """The newest examples behind a number, but for what a release withholds; for owners and moderators."""
    may.refuse_unless(may.may_in(session, viewer, Action.READ_FIGURES, task))
    categories, severities = harms.lines(found.config)
    wanted = {}
    for name, kinds in (("category", categories), ("severity", severities)):
        if asked[name]:
            kind = next((each for each in kinds if each.value == asked[name]), None)
            if kind is None:
                raise errors.NotFound(_("There is no such option."))
            wanted[name] = kind
    counted = found.models.get((asked["model"], asked["version"]))
    some = harms.chosen(counted.harms, **wanted) if counted else []
    return search.public(session, [each.example for each in some[:SHOWN]])
