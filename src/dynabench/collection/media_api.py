"""Pictures, sounds and files that people send for a task's fields."""

from collections.abc import Sequence
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session

from dynabench.kit import errors, security
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.facts import size_text
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.uploads import RAW
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Field, Group, MediaField

router = APIRouter()

MOST = 100 * 2**20


class MediaOut(BaseModel):
    """A stored file: the value of a field, and where it can be had."""

    media: str
    type: str
    size: int
    width: int | None = None
    height: int | None = None
    seconds: float | None = None
    address: str


def field_of(config: TaskConfig, place: str) -> MediaField:
    """The field at a place such as `input.image`, or `input.people.0.photo` within a group.

    Raises `Invalid` where that takes no files.
    """
    group, *names = place.split(".")
    try:
        found = _within(config.fields(group), names)
    except KeyError:
        found = None
    if not isinstance(found, MediaField) or not found.upload:
        raise errors.Invalid({"field": _("The task has no field of this name that files can be sent for.")})
    return found


def _within(fields: Sequence[Field], names: Sequence[str]) -> Field | None:
    """The field that dotted names lead to; numbers of rows and `__row__` lead from a list to its fields."""
    found = next((field for field in fields if names and field.name == names[0]), None)
    if not isinstance(found, Group):
        return found if len(names) == 1 else None
    row = found.repeat and len(names) > 1 and (names[1].isdecimal() or names[1] == "__row__")
    return _within(found.fields, names[2:] if row else names[1:])


def allowed(session: Session, settings: Settings, person: Person, task: str, place: str) -> MediaField:
    """The field, for somebody who may send a file for it now; contexts are for owners."""
    if place.startswith("context."):
        rounds.require(session, person, Action.IMPORT_DATA, task)
        return field_of(rounds.newest_config(session, task), place)
    people.require_seat(session, person, task)
    media.check_daily_limit(session, settings, person.id)
    return field_of(rounds.task_config(session, task), place)


async def keep(request: Request, person: Person, task: str, field: MediaField, content: bytes, name: str) -> MediaOut:
    """Check, store and write down what was sent."""
    state = request.app.state
    digest, facts = await to_thread.run_sync(media.store_upload, state.settings, content, field)
    await state.db.awrite(media.record_upload, task, person.id, digest, facts, name)
    address = str(request.app.url_path_for("media", digest=digest))
    return MediaOut.model_validate({"media": digest, "size": facts.size, "address": address, **facts.document()})


@router.post("/tasks/{task}/media", status_code=201, openapi_extra=RAW)
async def send_media(
    request: Request,
    task: str,
    person: Member,
    field: Annotated[str, Query(max_length=100, description="The field that it is for, such as input.image.")],
    name: Annotated[str, Query(max_length=200, description="What the file was called.")] = "",
) -> MediaOut:
    """Send a picture, a sound or a file as the body; `media` of the answer is what the field's value names.

    What it is, its content says. Pictures are stored without metadata. What nothing shows a day later is thrown away.
    """
    security.throttle(request, "media", 120, 60)
    state = request.app.state
    db: Database = state.db
    found = await db.aread(allowed, state.settings, person, task, field)
    return await keep(request, person, task, found, await _body(request, found, state.settings), name)


async def _body(request: Request, field: MediaField, settings: Settings) -> bytes:
    """The body; reading stops at four times what the field may hold: pictures are made smaller before they count."""
    most = min(MOST, 4 * media.upload_limits(settings, field).size)
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > most:
            raise errors.TooLarge(_("This is more than %(most)s.", most=size_text(most)))
    return bytes(content)
