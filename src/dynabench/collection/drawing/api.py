"""Having pictures drawn, as JSON."""

import uuid
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.orm import Session

from dynabench.collection.drawing import asking, service, views
from dynabench.collection.drawing.tables import Sheet
from dynabench.kit.security import throttle
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import people
from dynabench.rounds import service as rounds

router = APIRouter()

Key = Annotated[str | None, Header(alias="Idempotency-Key", min_length=1, max_length=100, pattern=r"^[\x21-\x7e]+$")]


class DrawingIn(BaseModel):
    """On which handout to draw, and of what: the input's texts by field."""

    model_config = ConfigDict(extra="forbid")

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
        seen = views.of(sheet)
        return cls(id=sheet.id, words=seen.words, pictures=seen.pictures, seconds=seen.seconds, at=sheet.at)


@router.post("/tasks/{task}/drawings", status_code=201)
async def draw(request: Request, task: str, body: DrawingIn, person: Member, key: Key = None) -> DrawingOut:
    """Have the models of the open round draw pictures of your words, on a context that was given to you.

    Which model drew which is told once one of them is sent in as an example, with the same words. A request sent again
    with its Idempotency-Key has nothing drawn a second time.
    """
    throttle(request, "models", 600, 60)
    return DrawingOut.of(await drawn(request, person, task, body.handout, body.input, key or uuid.uuid4().hex))


@router.get("/tasks/{task}/drawings")
async def drawings(
    request: Request, task: str, person: Member, handout: Annotated[int, Query(ge=1, le=2**53)]
) -> list[DrawingOut]:
    """List the pictures that were drawn for you on a hand-out, newest first."""

    def read(session: Session) -> list[DrawingOut]:
        people.require_seat(session, person, task)
        found = service.own_handout(session, person, rounds.open_round_of(session, task), handout)
        return [DrawingOut.of(sheet) for sheet in service.sheets(session, person.id, found.id)]

    return await request.app.state.db.aread(read)  # type: ignore[no-any-return]


async def drawn(request: Request, person: Person, task: str, handout: int, input: dict[str, Any], key: str) -> Sheet:
    """The sheet that somebody asked for."""
    state = request.app.state
    wanted = await state.db.aread(service.want, state.settings, person, task, handout, input, key)
    return await asking.draw(state.db, state.host, state.settings, wanted)
