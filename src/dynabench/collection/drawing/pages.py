"""The pictures drawn for an annotator, as the annotator sees them.

Their order says nothing about which model drew which.
"""

import uuid
from dataclasses import dataclass
from random import Random
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection import forms
from dynabench.collection.drawing import api, service
from dynabench.collection.drawing.service import Sheet
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.forms import field_errors, redirect
from dynabench.kit.security import throttle
from dynabench.media import service as queries
from dynabench.media.tables import Media
from dynabench.people.accounts.auth import Member
from dynabench.rounds import service as rounds
from dynabench.web import render
from dynabench.web.pages import wants_fragment


@dataclass(frozen=True)
class SheetView:
    """The pictures of some words, as references to files that are still there; `seconds` is how long they took."""

    id: int
    words: dict[str, Any]
    pictures: list[dict[str, Any]]
    seconds: float

    @property
    def line(self) -> str:
        """The words in a line."""
        return " · ".join(str(text) for text in self.words.values())


def view(session: Session, person_id: int, handout_id: int) -> list[SheetView]:
    """All that was drawn for a person on a handout, newest first; what was thrown away meanwhile is left out."""
    sheets = service.sheets(session, person_id, handout_id)
    digests = {picture["media"] for sheet in sheets for picture in _pictures(sheet)}
    stored_digests = (
        set(session.scalars(queries.stored_media(digests).with_only_columns(Media.digest))) if digests else set()
    )
    views = [sheet_view(sheet, stored_digests) for sheet in sheets]
    return [sheet for sheet in views if sheet.pictures]


def sheet_view(sheet: Sheet, stored_digests: set[str] | None = None) -> SheetView:
    """One sheet, shuffled in the same way each time."""
    pictures = [picture for picture in _pictures(sheet) if stored_digests is None or picture["media"] in stored_digests]
    Random(sheet.id).shuffle(pictures)
    return SheetView(sheet.id, dict(sheet.words), pictures, max(side["ms"] for side in sheet.sides) / 1000)


def _pictures(sheet: Sheet) -> list[dict[str, Any]]:
    return [picture for side in sheet.sides for picture in side["pictures"]]


router = APIRouter(include_in_schema=False)


@router.post("/tasks/{task}/drawings", name="draw_pictures")
async def draw(request: Request, db: Db, task: str, person: Member) -> Response:
    """Have pictures drawn of the form's words."""
    config = await db.aread(lambda session: rounds.config_of(session, rounds.open_round_of(session, task).version_id))
    form = await request.form()
    posted = forms.posted(config, form)
    throttle(request, "models", 600, 60)
    wrong: dict[str, str] = {}
    status = 200
    try:
        key = str(form.get("draw-key", ""))[:100] or uuid.uuid4().hex
        await api.drawn(request, person, task, posted.handout_id, posted.input, key)
    except (errors.Invalid, errors.Conflict, errors.Unavailable) as problem:
        if not wants_fragment(request):
            raise
        wrong = field_errors(problem, "")
        status = 200 if isinstance(problem, errors.Unavailable) else problem.status
    if not wants_fragment(request):
        return redirect(request, "create", task=task, anchor="drawing")
    field = service.drawn_in(config)
    return render(
        request,
        "collection/drawing.html",
        status=status,
        task=task,
        field=field,
        value=posted.input.get(field.name),
        error=" ".join(wrong.values()),
        sheets=await db.aread(view, person.id, posted.handout_id),
        live=True,
        fresh=not wrong,
        draw_key=uuid.uuid4().hex,
    )
