"""A new task, from a template or a YAML config that is pasted, written or sent as a file: created, or proposed."""

from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench import errors
from dynabench.accounts.auth import Member
from dynabench.accounts.tables import Person
from dynabench.db import Database
from dynabench.rounds import editing, proposals
from dynabench.tasks import Shipped, builtin
from dynabench.tasks.rewriting import renamed
from dynabench.tasks.shipped import selections
from dynabench.web import render

router = APIRouter()

MOST = 400_000  # bytes of a config's file; longer texts are refused anyway
Template = Annotated[str, Query(max_length=60)]
Earlier = Annotated[int, Query(ge=0, le=2**53)]


def starter() -> str:
    """The config that one begins with."""
    return files("dynabench.rounds").joinpath("starter.yaml").read_text(encoding="utf-8")


def template(id: str) -> str:
    """The config of a shipped task under an id of one's own; the starter for any other id."""
    source = next((each.source for each in _offered() if each.config.id == id), None)
    return renamed(source, f"my-{id}") if source else starter()


def _offered() -> list[Shipped]:
    return [*builtin(), *selections()]


async def posted(form: FormData) -> str:
    """The config in a form: a file if one was sent, else what stands in the editor."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return editing.text_of(form.get("config"))
    try:
        return editing.text_of((await file.read(MOST)).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise errors.Invalid({"file": "The file is not valid UTF-8."}) from None


async def _page(request: Request, person: Person, text: str, status: int = 200, **known: Any) -> Response:
    state = request.app.state
    checked = known if "problems" in known else known | await state.db.aread(editing.check, text)
    values = {"text": text, "address": str(request.app.url_path_for("new_task")), "base": 0, "note": "", "effects": []}
    values |= {"templates": [each.config for each in _offered()], "template": ""}
    values["creates"] = proposals.creates(person, state.settings.new_tasks)
    return render(request, "rounds/new.html", status=status, fragment="rounds/_check.html", **(values | checked))


@router.get("/tasks/new", name="new_task")
async def new(request: Request, person: Member, template_of: Template = "", earlier: Earlier = 0) -> Response:
    """The editor with a config to begin with: the starter, a shipped task, or what one proposed before."""
    proposals.creates(person, request.app.state.settings.new_tasks)
    text = template(template_of)
    if earlier:
        text = (await request.app.state.db.aread(proposals.one, person, earlier)).source
    return await _page(request, person, text, template=template_of)


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
