"""Files that annotators send: as JSON and in forms, and how they become part of an example."""

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile

from dynabench.collection import drafts
from dynabench.collection.schemas import ExampleIn
from dynabench.kit import errors, security
from dynabench.kit.db import Database
from dynabench.kit.language import _, join_messages
from dynabench.kit.settings import Settings
from dynabench.media import service as media
from dynabench.media.file_formats import size_text
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.owner_api import BINARY_BODY
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Field, Group, MediaField

if TYPE_CHECKING:
    from dynabench.collection.drafts import Draft
    from dynabench.collection.targets import TargetVerdict


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
        field = _within(config.fields(group), names)
    except KeyError:
        field = None
    if not isinstance(field, MediaField) or not field.upload:
        raise errors.Invalid({"field": _("The task has no upload field of this name.")})
    return field


def _within(fields: Sequence[Field], names: Sequence[str]) -> Field | None:
    match = next((field for field in fields if names and field.name == names[0]), None)
    if not isinstance(match, Group):
        return match if len(names) == 1 else None
    row = match.repeat and len(names) > 1 and (names[1].isdecimal() or names[1] == "__row__")
    return _within(match.fields, names[2:] if row else names[1:])


def allowed(session: Session, settings: Settings, person: Person, task: str, place: str) -> MediaField:
    """The field, for a person who may send a file for it now; contexts are for owners."""
    if place.startswith("context."):
        return field_of(rounds.require_config(session, person, Action.IMPORT_DATA, task), place)
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


@router.post("/tasks/{task}/media", status_code=201, openapi_extra=BINARY_BODY)
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
    upload_field = await db.aread(allowed, state.settings, person, task, field)
    return await keep(request, person, task, upload_field, await _body(request, upload_field, state.settings), name)


async def _body(request: Request, field: MediaField, settings: Settings) -> bytes:
    most = min(MOST, 4 * media.upload_limits(settings, field).size)
    content = bytearray()
    async for part in request.stream():
        content += part
        if len(content) > most:
            raise errors.TooLarge(_("The file is larger than %(most)s.", most=size_text(most)))
    return bytes(content)


FILE = ".file"


async def pairs(request: Request, viewer: Person | None, task: str, groups: Iterable[str]) -> list[tuple[str, Any]]:
    """The form's texts, and for each file that was sent under `<group>.<field>.file` its digest under the field's name.

    Raises `Invalid` under the fields' names for files that are not taken.
    """
    form = await request.form()
    form_pairs: list[tuple[str, Any]] = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    sent = [(name, value) for name, value in form.multi_items() if isinstance(value, UploadFile)]
    wrong: dict[str, str] = {}
    for name, value in sent:
        place = name.removesuffix(FILE)
        if value.filename and place != name and place.partition(".")[0] in groups:
            try:
                form_pairs.append((place, await _stored(request, viewer, task, place, value)))
            except (errors.Invalid, errors.TooMany) as problem:
                messages = problem.fields.values() if isinstance(problem, errors.Invalid) else (problem.detail,)
                wrong[place] = join_messages(messages)
        await value.close()
    if wrong:
        raise Unstored(wrong, form_pairs)
    return form_pairs


class Unstored(errors.Invalid):
    """Some files were not taken; `pairs` are the form's other texts, so that the form keeps them."""

    def __init__(self, fields: dict[str, str], pairs: list[tuple[str, Any]]) -> None:
        super().__init__(fields)
        self.pairs = pairs


async def _stored(request: Request, viewer: Person | None, task: str, place: str, sent: UploadFile) -> str:
    if viewer is None:
        raise errors.Invalid({place: _("Log in to upload a file.")})
    security.throttle(request, "media", 120, 60)
    state = request.app.state
    field = await state.db.aread(allowed, state.settings, viewer, task, place)
    content = await sent.read()
    stored_media = await keep(request, viewer, task, field, content, sent.filename or "")
    if field.kind != "file":
        return stored_media.media
    return json.dumps(
        {"media": stored_media.media, "name": "".join(filter(str.isprintable, sent.filename or ""))[-120:]}
    )


def before_record(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Put what is known of its files into a draft: those that its author sent, and those among what they are shown."""
    visible = {"context": handout.context, "initial": handout.handout_initial}
    return drafts.filled(session, person, handout.task_id, config, body, visible), {}


def recorded(session: Session, draft: "Draft", verdict: "TargetVerdict", example_id: int) -> None:
    """Record that an example shows its files, and a picture that was drawn for it."""
    values = [draft.input, draft.answer, *(answer.answer for answer in verdict.answers if draft.drawn)]
    media.bind_media(session, draft.task_id, values, example_id=example_id)
