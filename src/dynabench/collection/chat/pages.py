"""The conversation on the create page: whole pages for plain forms, the part that changes or events for scripts."""

import random
import re
import uuid

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.collection.chat import live, schemas, service
from dynabench.collection.chat.api import chats, started
from dynabench.collection.chat.schemas import ChatView
from dynabench.collection.chat.service import Begun
from dynabench.collection.handout_tables import Handout
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.kit.security import throttle
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import plan
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.tasks import TaskConfig
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)

_WHICH = re.compile(r"[0-9]{1,15}")


@router.get("/tasks/{task}/chat", name="conversation")
async def show(request: Request, task: str, person: Member, handout: int = Query(ge=1, le=2**53)) -> Response:
    """The conversation on a handout: the part of the create page that changes."""
    return await _render_chat(request, task, person, handout)


@router.post("/tasks/{task}/chat", name="converse")
async def converse(request: Request, db: Db, task: str, person: Member) -> Response:
    """`do` is `say`, `again`, `stop`, or `choose:` with a side, tie or bad."""
    form = await request.form()
    handout = _number(form, "handout")
    act, _colon, choice = str(form.get("do", "")).partition(":")
    try:
        if act in ("say", "again"):
            throttle(request, "models", 600, 60)
            chats(request).room()
            begun = await db.awrite(_begin, task, person, handout, act, form)
            running = started(request, begun)
            if live.MEDIA_TYPE in request.headers.get("accept", ""):
                return live.response(running, begun)
            await running.ended(begun.turn_id)
        elif act == "stop":
            turn_id = await db.awrite(service.stop, person, _number(form, "conversation"), _number(form, "turn"))
            chats(request).stop(turn_id)
            await chats(request).ended(turn_id)
        elif act == "choose":
            which = person, _number(form, "conversation"), _number(form, "turn")
            await db.awrite(service.choose, *which, choice, _ratings(form), random.Random())
        else:
            raise errors.Invalid({"do": _("Reload the page.")})
    except (errors.Invalid, errors.Conflict) as problem:
        if not wants_fragment(request):
            raise
        message = " ".join(problem.fields.values()) if isinstance(problem, errors.Invalid) else problem.detail
        return await _render_chat(request, task, person, handout, message, problem.status)
    if wants_fragment(request):
        return await _render_chat(request, task, person, handout)
    return redirect(request, "create", task=task, anchor="chat")


def _begin(session: Session, task: str, person: Person, handout: int, act: str, form: FormData) -> Begun:
    if act == "again":
        return service.again(session, person, _number(form, "conversation"), _number(form, "turn"))
    conversation = service.begin(session, person, task, handout, random.Random())
    key = str(form.get("turn-key", ""))[:100] or uuid.uuid4().hex
    return service.say(session, person, conversation.id, str(form.get("said", "")).replace("\r\n", "\n"), key)


async def _render_chat(
    request: Request, task: str, person: Person, handout: int, problem: str = "", status: int = 200
) -> Response:
    config, view = await request.app.state.db.aread(_view, task, person, handout)
    return render(
        request,
        "collection/chat.html",
        status=status,
        task=task,
        field=config.chat,
        error=problem,
        chat=view,
    )


def _view(session: Session, task: str, person: Person, handout_id: int) -> tuple[TaskConfig, ChatView]:
    handout = session.get(Handout, handout_id)
    round = session.get(Round, handout.round_id) if handout else None
    if handout is None or round is None or handout.person_id != person.id or round.task_id != task:
        raise errors.NotFound(_("You have no handout %(handout_id)s.", handout_id=handout_id))
    config = rounds.config_of(session, round.version_id)
    if config.chat is None:
        raise errors.Conflict(_("This task has no conversations."))
    return config, schemas.view(session, handout_id, len(plan.targets_of_arm(round, handout.arm)))


def _number(form: FormData, name: str) -> int:
    text = str(form.get(name, ""))
    if not _WHICH.fullmatch(text):
        raise errors.Invalid({name: _("Reload the page.")})
    return int(text)


def _ratings(form: FormData) -> dict[str, int]:
    pairs = (
        (str(name).removeprefix("rating."), str(value)) for name, value in form.items() if name.startswith("rating.")
    )
    return {side: int(value) for side, value in pairs if value.isdecimal() and len(value) < 3}
