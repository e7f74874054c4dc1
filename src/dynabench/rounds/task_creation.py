"""A new task, from a template or a YAML config that is pasted, written or sent as a file: created, or proposed."""

import re
import unicodedata
from collections.abc import Iterator
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.rounds import editing, proposals, service
from dynabench.rounds.tables import Task
from dynabench.tasks import shipped_tasks
from dynabench.tasks.config_edits import Path, with_values
from dynabench.tasks.shipped import ShippedTask, shipped_conversations, shipped_drawings, shipped_selections
from dynabench.web import render

router = APIRouter()

MOST = 400_000  # bytes of a config's file; longer texts are refused anyway
Template = Annotated[str, Query(max_length=60)]
Called = Annotated[str, Query(max_length=100, description="The name that it begins with.")]
Earlier = Annotated[int, Query(ge=0, le=2**53)]


def starter() -> str:
    """The config that one begins with."""
    return files("dynabench.rounds").joinpath("starter.yaml").read_text(encoding="utf-8")


def templates() -> list[ShippedTask]:
    """The shipped tasks, to begin with."""
    return [*shipped_tasks(), *shipped_conversations(), *shipped_drawings(), *shipped_selections()]


def template(session: Session, id: str, name: str) -> str:
    """The config of a shipped task, or the starter for any other id, under a name and an id that no task has yet."""
    source = next((each.source for each in templates() if each.config.id == id), None)
    wanted = _plain(name) or f"my-{id if source else 'task'}"
    changes: dict[Path, str] = {("id",): _free(session, wanted)}
    if name:
        changes[("name",)] = name
    return with_values(source or starter(), changes)


def _plain(name: str) -> str:
    """A name as an address has it; empty where it has no letters for one."""
    ascii = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"[^a-z0-9]+", "-", ascii).strip("-")
    return found[:30].strip("-") if re.match(r"[a-z].", found) else ""


def _free(session: Session, wanted: str) -> str:
    """`wanted`, or with the first number behind it that makes it an id which is not taken."""

    def ids() -> Iterator[str]:
        yield wanted
        yield from (f"{wanted}-{number}" for number in range(2, 100))

    taken = service.RESERVED
    return next((id for id in ids() if id not in taken and session.get(Task, id) is None), wanted)


async def posted(form: FormData) -> str:
    """The config in a form: a file if one was sent, else what stands in the editor."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return editing.text_of(form.get("config"))
    try:
        return editing.text_of((await file.read(MOST)).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise errors.Invalid({"file": _("The file is not valid UTF-8.")}) from None


async def _page(request: Request, person: Person, text: str, status: int = 200, **known: Any) -> Response:
    state = request.app.state
    checked = known if "problems" in known else known | await state.db.aread(editing.check, text)
    values = {"text": text, "address": str(request.app.url_path_for("new_task")), "base": 0, "note": "", "effects": []}
    values |= {"templates": [(each.config.id, each.config.name) for each in templates()], "template": "", "called": ""}
    values["creates"] = proposals.creates(person, state.settings.new_tasks)
    return render(request, "rounds/new.html", status=status, fragment="rounds/_check.html", **(values | checked))


@router.get("/tasks/new", name="new_task")
async def new(
    request: Request, person: Member, template_of: Template = "", name: Called = "", earlier: Earlier = 0
) -> Response:
    """The editor with a config to begin with: the starter, a shipped task, or what one proposed before."""
    proposals.creates(person, request.app.state.settings.new_tasks)
    db: Database = request.app.state.db
    called = " ".join(name.split())
    if earlier:
        text = (await db.aread(proposals.one, person, earlier)).source
    else:
        text = await db.aread(template, template_of, called)
    return await _page(request, person, text, template=template_of, called=called)


@router.post("/tasks/new", name="send_new_task")
async def create(request: Request, person: Member) -> Response:
    """Create the task and go to its console, or propose it; or (`then` = check) show what is wrong with it."""
    state = request.app.state
    text, note = "", ""

    def make(session: Session) -> str:
        if proposals.creates(person, state.settings.new_tasks):
            made = proposals.create(session, person, state.settings.new_tasks, text)
            return str(request.app.url_path_for("manage_health", task=made))
        sent = proposals.propose(session, person, state.settings.new_tasks, text, note)
        return f"{request.app.url_path_for('proposals')}?done=sent#proposal-{sent.id}"

    async with request.form() as form:
        note = str(form.get("note", ""))
        try:
            text = await posted(form)
            if form.get("then") == "check":
                return await _page(request, person, text, note=note)
            proposals.creates(person, state.settings.new_tasks)
            await service.parse_ahead(text)
            address = await _write(state.db, make)
        except errors.Invalid as problem:
            wrong = editing.problems(problem.fields)
            return await _page(request, person, text, 422, note=note, problems=wrong, preview=None)
    return RedirectResponse(address, status_code=303)


async def _write(db: Database, make: Any) -> str:
    """Make it; what stands in its way is said beside the text."""
    try:
        address: str = await db.awrite(make)
    except errors.Conflict as problem:
        raise errors.Invalid({"config": problem.detail}) from None
    return address
