"""A new task, from a YAML config that is pasted, written or sent as a file; for admins."""

from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench import errors
from dynabench.accounts.auth import Admin
from dynabench.accounts.tables import Person
from dynabench.db import Database
from dynabench.rounds import editing, service
from dynabench.rounds.tables import Task
from dynabench.tasks import TaskConfig
from dynabench.web import render

router = APIRouter()

MOST = 400_000  # bytes of a config's file; longer texts are refused anyway


def starter() -> str:
    """The config that one begins with."""
    return files("dynabench.rounds").joinpath("starter.yaml").read_text(encoding="utf-8")


async def posted(form: FormData) -> str:
    """The config in a form: a file if one was sent, else what stands in the editor."""
    file = form.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        return editing.text_of(form.get("config"))
    try:
        return editing.text_of((await file.read(MOST)).decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise errors.Invalid({"file": "The file is not valid UTF-8."}) from None


def _create(session: Session, admin: Person, text: str) -> str:
    config = TaskConfig.parse(text)
    if session.get(Task, config.id) is not None:
        raise errors.Invalid({"id": f"There is a task {config.id} already. Its console can give it a new version."})
    return service.save_task(session, admin, text).task_id


async def _page(request: Request, text: str, status: int = 200, **known: Any) -> Response:
    db: Database = request.app.state.db
    checked = known or await db.aread(editing.check, text)
    values = {"text": text, "address": str(request.app.url_path_for("new_task")), "base": 0, **checked}
    return render(request, "rounds/new.html", status=status, fragment="rounds/_check.html", **values)


@router.get("/tasks/new", name="new_task")
async def new(request: Request, admin: Admin) -> Response:
    """The editor with a config to begin with."""
    return await _page(request, starter())


@router.post("/tasks/new", name="send_new_task")
async def create(request: Request, admin: Admin) -> Response:
    """Create the task and go to its console; or (`then` = check) show what is wrong or what it would look like."""
    db: Database = request.app.state.db
    text = ""
    async with request.form() as form:
        try:
            text = await posted(form)
            if form.get("then") == "check":
                return await _page(request, text)
            made = await db.awrite(_create, admin, text)
        except errors.Invalid as problem:
            return await _page(request, text, 422, problems=editing.problems(problem.fields), preview=None)
    return RedirectResponse(str(request.app.url_path_for("manage_health", task=made)), status_code=303)
