"""The board of preferences: as a page, as JSON, as CSV."""

import csv
import io
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import content_warning, overview
from dynabench.collection.chat import preferences
from dynabench.collection.chat.preferences import Judged
from dynabench.collection.chat.schemas import PreferenceOut, PreferencesOut
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import seats, views
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import RoundState
from dynabench.stats.bradley_terry import MIN_CLUSTERS
from dynabench.web import render

api = APIRouter()
pages = APIRouter(include_in_schema=False, dependencies=[Depends(seats.know)])

Number = Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)]


@api.get("/tasks/{task}/preferences")
async def read_preferences(request: Request, task: str, viewer: Viewer, number: Number = None) -> PreferencesOut:
    """Return the models whose replies people prefer in a task of conversations.

    Each model has a strength with an interval and a place; for each two models the reply says how often one
    was preferred to the other.
    """
    return await _told(request, task, number)


@pages.get("/tasks/{task}/preferences", name="preferences")
async def show(request: Request, task: str, viewer: Viewer, number: Number = None) -> Response:
    """The board of preferences."""
    if warning := await content_warning.warn(request, task):
        return warning
    told = await _told(request, task, number)

    def read(session: Session) -> dict[str, object]:
        started = overview.started(session, task)
        current = next((each for each in started if each.state == RoundState.OPEN), started[0] if started else None)
        return {
            "config": rounds.task_config(session, task),
            "round": views.round_out(session, current) if current else None,
            "numbers": [each.number for each in started],
        }

    values = await request.app.state.db.aread(read)
    ends = [abs(end) for each in told.models for end in (each.low, each.high) if end is not None]
    values |= {"top": max(ends, default=0.0) or 1.0, "fewest": MIN_CLUSTERS}
    return render(request, "collection/preferences.html", task=task, told=told, number=number, **values)


@pages.get("/tasks/{task}/preferences.csv", name="preferences_csv")
async def download(request: Request, task: str, viewer: Viewer, number: Number = None) -> Response:
    """The board as a table: one line a model."""
    told = await _told(request, task, number)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(PreferenceOut.model_fields), lineterminator="\n")
    writer.writeheader()
    writer.writerows(each.model_dump() for each in told.models)
    named = {"Content-Disposition": f'attachment; filename="{task}-preferences.csv"'}
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8", headers=named)


async def _told(request: Request, task: str, number: int | None) -> PreferencesOut:
    found = await request.app.state.db.aread(_judged, task, number)
    return await to_thread.run_sync(preferences.told, found)  # nothing of the database is held while it computes


def _judged(session: Session, task: str, number: int | None) -> Judged:
    if rounds.task_config(session, task).chat is None:
        raise errors.Conflict(_("This task has no conversations, so there are no preferences among them."))
    return preferences.judged(session, task, number)
