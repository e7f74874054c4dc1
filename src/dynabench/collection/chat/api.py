"""Conversations as JSON, and replies as server-sent events."""

import random
import uuid
from typing import Annotated

from fastapi import APIRouter, Header, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.collection.chat import live, preferences, schemas, service
from dynabench.collection.chat.live import Chats
from dynabench.collection.chat.schemas import ChoiceIn, ConversationIn, ConversationOut, ExchangeOut, MessageIn
from dynabench.collection.chat.service import Begun
from dynabench.kit.api import Db, IdempotencyKey
from dynabench.kit.security import RowId, throttle
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person

router = APIRouter()
router.include_router(preferences.api)

Last = Annotated[str | None, Header(alias="Last-Event-ID", max_length=100)]
Number = Annotated[int, Path(ge=1, le=50)]
STREAM_RESPONSES: dict[int | str, dict[str, object]] = {201: live.DOCUMENTED | {"model": ExchangeOut}}


def chats(request: Request) -> Chats:
    """The turns that this process has models reply to; made when the first conversation begins."""
    state = request.app.state
    if getattr(state, "chats", None) is None:
        state.chats = Chats(state.db, state.host)
    process_chats: Chats = state.chats
    return process_chats


def started(request: Request, begun: Begun) -> Chats:
    """Have the models asked where they have yet to be."""
    running = chats(request)
    if begun.asking is not None:
        running.start(begun.asking)
    return running


@router.post("/tasks/{task}/conversations", status_code=201)
async def begin_conversation(db: Db, task: str, body: ConversationIn, person: Member) -> ConversationOut:
    """Begin to talk with the models of the open round on a context that was given to you, or go on.

    Sides are shuffled for each conversation; which model is which is told once it is sent in as an example, with the
    conversation's `id` as the value of the task's chat field.
    """

    def begin(session: Session) -> ConversationOut:
        conversation = service.begin(session, person, task, body.handout, random.Random())
        return ConversationOut.of(schemas.conversation_view(conversation))

    return await db.awrite(begin)


@router.get("/conversations/{id}")
async def read_conversation(request: Request, id: RowId, person: Member) -> ConversationOut:
    """A conversation of yours."""
    return await _read(request, person, id)


@router.post("/conversations/{id}/turns", status_code=201, responses=STREAM_RESPONSES, response_model=ExchangeOut)
async def say(
    request: Request, db: Db, id: RowId, body: MessageIn, person: Member, key: IdempotencyKey = None
) -> Response | ExchangeOut:
    """Say something to all models; they reply side by side.

    With `Accept: text/event-stream` the replies are streamed, otherwise the turn is answered when they are over. A
    request sent again with its Idempotency-Key begins no second turn.
    """
    throttle(request, "models", 600, 60)
    chats(request).room()
    begun = await db.awrite(service.say, person, id, body.said, key or uuid.uuid4().hex)
    return await _answered(request, person, begun)


@router.post(
    "/conversations/{id}/turns/{number}/retry", status_code=201, responses=STREAM_RESPONSES, response_model=ExchangeOut
)
async def retry(request: Request, db: Db, id: RowId, number: Number, person: Member) -> Response | ExchangeOut:
    """Ask again where replies to the last turn broke off, failed or were stopped; answered as a new turn is."""
    throttle(request, "models", 600, 60)
    chats(request).room()
    return await _answered(request, person, await db.awrite(service.again, person, id, number))


@router.get("/conversations/{id}/turns/{number}/events", response_class=Response, responses={200: live.DOCUMENTED})
async def follow(request: Request, db: Db, id: RowId, number: Number, person: Member, last: Last = None) -> Response:
    """The replies to a turn as server-sent events, from the beginning or from behind `Last-Event-ID`."""
    throttle(request, "events", 600, 60)
    begun = await db.aread(_begun, person, id, number)
    return live.response(chats(request), begun, last)


@router.post("/conversations/{id}/turns/{number}/stop")
async def stop(request: Request, db: Db, id: RowId, number: Number, person: Member) -> ExchangeOut:
    """End the replies to a turn where they are."""
    turn_id = await db.awrite(service.stop, person, id, number)
    chats(request).stop(turn_id)
    await chats(request).ended(turn_id)
    return await _turn(request, person, id, number)


@router.post("/conversations/{id}/turns/{number}/choice")
async def choose(db: Db, id: RowId, number: Number, body: ChoiceIn, person: Member) -> ConversationOut:
    """Say which reply was best, and rate replies where the task asks for it; the conversation goes on from it."""

    def write(session: Session) -> ConversationOut:
        ratings = {str(side): rating for side, rating in body.ratings.items()}
        conversation = service.choose(session, person, id, number, body.choice, ratings, random.Random())
        return ConversationOut.of(schemas.conversation_view(conversation))

    return await db.awrite(write)


async def _answered(request: Request, person: Person, begun: Begun) -> Response | ExchangeOut:
    running = started(request, begun)
    if live.MEDIA_TYPE in request.headers.get("accept", ""):
        response = live.response(running, begun)
        response.status_code = 201
        return response
    await running.ended(begun.turn_id)
    return await _turn(request, person, begun.conversation_id, begun.number)


async def _turn(request: Request, person: Person, id: int, number: int) -> ExchangeOut:
    return (await _read(request, person, id)).turns[number - 1]


async def _read(request: Request, person: Person, id: int) -> ConversationOut:
    def read(session: Session) -> ConversationOut:
        return ConversationOut.of(schemas.conversation_view(service.own(session, person, id)))

    return await request.app.state.db.aread(read)  # type: ignore[no-any-return]


def _begun(session: Session, person: Person, id: int, number: int) -> Begun:
    turn = service.turn_of(service.own(session, person, id), number)
    return Begun(id, turn.id, number, None)
