"""Has models draw and stores what they drew, checked as an upload is, while nothing of the database is held."""

import base64
import binascii
import uuid
from datetime import datetime
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from dynabench.collection import targets
from dynabench.collection.drawing import pages, service
from dynabench.collection.drawing.service import DrawingRequest, Sheet, Side
from dynabench.collection.handout_storage import own_handout
from dynabench.kit.api import Db, IdempotencyKey
from dynabench.kit.db import Database
from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.kit.schemas import StrictModel
from dynabench.kit.security import throttle
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import UploadRefused
from dynabench.models.client import Answer, Host
from dynabench.models.validity import DRAWN
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds


async def ask_for_pictures(db: Database, host: Host, settings: Settings, drawing_request: DrawingRequest) -> Sheet:
    """The sheet of all models' pictures; `Unavailable` where one draws nothing, or something that is not taken."""
    if drawing_request.sheet is not None:
        return drawing_request.sheet
    answers = await targets.gather(host, drawing_request.targets, drawing_request.inputs)
    sides = await to_thread.run_sync(lambda: [_side(settings, drawing_request, answer) for answer in answers])
    return await db.awrite(service.keep, drawing_request, sides)


def _side(settings: Settings, drawing_request: DrawingRequest, answer: Answer) -> Side:
    drawn = answer.answer.get(drawing_request.field.name)
    if not isinstance(drawn, list) or not 1 <= len(drawn) <= DRAWN:
        raise Unavailable(_("A model answered without pictures. Tell the task's owner."))
    try:
        stored = [media.store_upload(settings, _content(picture), drawing_request.field) for picture in drawn]
    except (UploadRefused, ValueError) as problem:
        message = problem.detail if isinstance(problem, UploadRefused) else _("The picture cannot be read.")
        raise Unavailable(
            _("A model drew a picture that is not accepted. %(told)s Tell the task's owner.", told=message)
        ) from problem
    return Side(answer.model, answer.version, answer.latency_ms, tuple(stored))


def _content(text: object) -> bytes:
    """The bytes of a picture as `data:` text; raises ValueError."""
    head, _, packed = str(text).partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise ValueError("no picture")
    try:
        return base64.b64decode(packed, validate=True)
    except binascii.Error as error:
        raise ValueError("no base64") from error


router = APIRouter()


class DrawingIn(StrictModel):
    """On which handout to draw, and of what: the input's texts by field."""

    handout: int = Field(ge=1, le=2**53)
    input: dict[str, Any]


class DrawingOut(BaseModel):
    """The pictures drawn from `words`: references, one of which is the value of the task's field."""

    id: int
    words: dict[str, Any]
    pictures: list[dict[str, Any]]
    seconds: float
    at: datetime

    @classmethod
    def of(cls, sheet: Sheet) -> "DrawingOut":
        """As those may see it for whom it was drawn."""
        seen = pages.sheet_view(sheet)
        return cls(id=sheet.id, words=seen.words, pictures=seen.pictures, seconds=seen.seconds, at=sheet.at)


@router.post("/tasks/{task}/drawings", status_code=201)
async def draw(request: Request, task: str, body: DrawingIn, person: Member, key: IdempotencyKey = None) -> DrawingOut:
    """Have the models of the open round draw pictures of your words, on a context that was given to you.

    Which model drew which is told once one of them is sent in as an example, with the same words. A request sent again
    with its Idempotency-Key has nothing drawn a second time.
    """
    throttle(request, "models", 600, 60)
    return DrawingOut.of(await drawn(request, person, task, body.handout, body.input, key or uuid.uuid4().hex))


@router.get("/tasks/{task}/drawings")
async def drawings(
    db: Db, task: str, person: Member, handout: Annotated[int, Query(ge=1, le=2**53)]
) -> list[DrawingOut]:
    """List the pictures that were drawn for you on a hand-out, newest first."""

    def read(session: Session) -> list[DrawingOut]:
        people.require_seat(session, person, task)
        own = own_handout(session, person, rounds.open_round_of(session, task), handout)
        return [DrawingOut.of(sheet) for sheet in service.sheets(session, person.id, own.id)]

    return await db.aread(read)


async def drawn(request: Request, person: Person, task: str, handout: int, input: dict[str, Any], key: str) -> Sheet:
    """The sheet that the author asked for."""
    state = request.app.state
    drawing_request = await state.db.aread(service.want, state.settings, person, task, handout, input, key)
    return await ask_for_pictures(state.db, state.host, state.settings, drawing_request)
