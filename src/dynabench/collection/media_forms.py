"""Files that a form sends itself, as it does without scripts: stored first, then part of the form as their digests."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fastapi import Request
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile

from dynabench.collection import drafts, media_api
from dynabench.collection.schemas import ExampleIn
from dynabench.kit import errors, security
from dynabench.kit.language import _
from dynabench.media import service as media
from dynabench.people.accounts.tables import Person
from dynabench.tasks import TaskConfig

if TYPE_CHECKING:
    from dynabench.collection.drafts import Draft
    from dynabench.collection.targets import Verdict

FILE = ".file"


async def pairs(request: Request, viewer: Person | None, task: str, groups: Iterable[str]) -> list[tuple[str, Any]]:
    """The form's texts, and for each file that was sent under `<group>.<field>.file` its digest under the field's name.

    Raises `Invalid` under the fields' names for files that are not taken.
    """
    form = await request.form()
    found: list[tuple[str, Any]] = [(name, value) for name, value in form.multi_items() if isinstance(value, str)]
    sent = [(name, value) for name, value in form.multi_items() if isinstance(value, UploadFile)]
    wrong: dict[str, str] = {}
    for name, value in sent:
        place = name.removesuffix(FILE)
        if value.filename and place != name and place.partition(".")[0] in groups:
            try:
                found.append((place, await _stored(request, viewer, task, place, value)))
            except (errors.Invalid, errors.TooMany) as problem:
                told = problem.fields.values() if isinstance(problem, errors.Invalid) else (problem.detail,)
                wrong[place] = "; ".join(told)
        await value.close()
    if wrong:
        raise Unstored(wrong, found)
    return found


class Unstored(errors.Invalid):
    """Some files were not taken; `pairs` are the form's other texts, so that the form keeps them."""

    def __init__(self, fields: dict[str, str], pairs: list[tuple[str, Any]]) -> None:
        super().__init__(fields)
        self.pairs = pairs


async def _stored(request: Request, viewer: Person | None, task: str, place: str, sent: UploadFile) -> str:
    if viewer is None:
        raise errors.Invalid({place: _("Log in to send a file of your own.")})
    security.throttle(request, "media", 120, 60)
    state = request.app.state
    field = await state.db.aread(media_api.allowed, state.settings, viewer, task, place)
    content = await sent.read()
    made = await media_api.keep(request, viewer, task, field, content, sent.filename or "")
    if field.kind != "file":
        return made.media
    return json.dumps({"media": made.media, "name": "".join(filter(str.isprintable, sent.filename or ""))[-120:]})


def before_record(
    session: Session, person: Person, config: TaskConfig, body: ExampleIn, handout: Any
) -> tuple[ExampleIn, dict[str, Any]]:
    """Put what is known of its files into a draft: those that its author sent, and those among what they are shown."""
    visible = {"context": handout.context, "initial": handout.handout_initial}
    return drafts.filled(session, person, handout.task_id, config, body, visible), {}


def recorded(session: Session, draft: "Draft", verdict: "Verdict", example_id: int) -> None:
    """Record that an example shows its files, and a picture that was drawn for it."""
    values = [draft.input, draft.answer, *(answer.answer for answer in verdict.answers if draft.drawn)]
    media.bind_media(session, draft.task_id, values, example_id=example_id)
