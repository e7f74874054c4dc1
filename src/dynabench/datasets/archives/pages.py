"""Pages of archives: a task made of one, and the archives and clones of a task on its console."""

import uuid
from typing import Annotated, Any
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Depends, Form, Request
from starlette.datastructures import UploadFile
from starlette.responses import FileResponse, Response

from dynabench.datasets.archives import service
from dynabench.datasets.archives.api import archive_out, fetch_archive
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Member, limited
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import proposals, uploaded_files
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.web import render

router = APIRouter(include_in_schema=False)
SELDOM = [Depends(limited("archive", 20, 3600))]


async def _archives_page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    state = request.app.state
    imports = await state.db.aread(service.list_task_imports, person)
    creates = state.settings.new_tasks == "free" or bool(may.may(person, Action.CREATE_TASK))
    defaults: dict[str, Any] = {
        "jobs": [await archive_out(request, job) for job in imports],
        "errors": {},
        "typed": "",
        "may": creates,
    }
    return render(request, "archives/archives.html", status=status, **(defaults | values))


@router.get("/archives", name="archives")
async def show_archives(request: Request, person: Member) -> Response:
    """A form for an archive, and what became of those before."""
    return await _archives_page(request, person)


@router.post("/archives", name="send_archive_form", dependencies=SELDOM)
async def send_archive_form(request: Request, person: Member) -> Response:
    """Keep the file and make a task of it in the background."""
    state = request.app.state
    mode: proposals.Mode = state.settings.new_tasks
    async with request.form() as form:
        file, id = form.get("file"), str(form.get("id", ""))[:100].strip()
        path = uploaded_files.uploads_folder(state.settings) / f"{uuid.uuid4()}.zip"
        try:
            await state.db.aread(service.require_free_id, person, mode, id)
            if not isinstance(file, UploadFile) or not file.filename:
                raise errors.Invalid({"file": _("Choose a file first.")})
            await uploaded_files.write_stream(path, uploaded_files.read_pieces(file))
            await to_thread.run_sync(service.check_readable, path)
            job = await state.db.awrite(service.request_import, person, mode, id, path, file.filename[-200:])
        except errors.Invalid as problem:
            path.unlink(missing_ok=True)
            return await _archives_page(request, person, 422, errors=problem.fields, typed=id)
    return redirect(request, "archive_job", job=job.id)


@router.get("/archives/{job}", name="archive_job")
async def show_archive(request: Request, db: Db, job: UUID, person: Member) -> Response:
    """Show the progress of an archive job."""
    archive = await db.aread(service.archive_job, person, job)
    return render(
        request, "archives/archive.html", fragment="archives/_job.html", job=await archive_out(request, archive)
    )


console = APIRouter()


async def _exports_page(request: Request, task: str, owner: Person, status: int = 200, **values: Any) -> Response:
    state = request.app.state
    exports = [await archive_out(request, entry) for entry in await state.db.aread(service.list_exports, task)]
    lying = {entry.id for entry in exports if service.archive_path(state.settings, entry.id).is_file()}
    defaults: dict[str, Any] = {"archives": exports, "lying": lying, "errors": {}, "typed": "", "problem": ""}
    defaults["may"] = state.settings.new_tasks == "free" or bool(may.may(owner, Action.CREATE_TASK))
    return await frame.console_page(
        request, task, "archives/manage/archives.html", "archives", status=status, **(defaults | values)
    )


@console.get("/tasks/{task}/manage/archives", name="manage_archives")
async def show_exports(request: Request, task: str, owner: TaskOwner) -> Response:
    """The archives that were asked for, a button for another, and a form for a clone."""
    return await _exports_page(request, task, owner)


@console.post("/tasks/{task}/manage/archives", name="write_archive_form", dependencies=SELDOM)
async def write_archive_form(
    request: Request, db: Db, task: str, owner: TaskOwner, examples: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    """Ask for an archive."""
    job = await db.awrite(service.request_export, owner, task, examples=bool(examples))
    return redirect(request, "manage_archive", task=task, job=job.id)


@console.post("/tasks/{task}/manage/clone", name="clone_task_form", dependencies=SELDOM)
async def clone_task_form(
    request: Request, task: str, owner: TaskOwner, id: Annotated[str, Form(max_length=100)] = ""
) -> Response:
    """Ask for another task like this one."""
    state = request.app.state
    try:
        job = await state.db.awrite(service.request_clone, owner, state.settings.new_tasks, task, id.strip())
    except errors.Invalid as problem:
        return await _exports_page(request, task, owner, 422, errors=problem.fields, typed=id)
    except errors.Forbidden as problem:
        return await _exports_page(request, task, owner, 403, problem=problem.detail)
    return redirect(request, "archive_job", job=job.id)


@console.get("/tasks/{task}/manage/archives/{job}.zip", name="fetch_archive_file")
async def fetch_archive_file(settings: AppSettings, db: Db, task: str, job: UUID, owner: TaskOwner) -> FileResponse:
    """The file."""
    return await fetch_archive(settings, db, job, owner)


@console.get("/tasks/{task}/manage/archives/{job}", name="manage_archive")
async def show_export(request: Request, db: Db, task: str, job: UUID, owner: TaskOwner) -> Response:
    """Show the progress of an archive, and its download link once it is done."""
    export = await db.aread(service.archive_job, owner, job)
    if export.payload["task"] != task:
        raise errors.NotFound(service.GONE)
    return await frame.console_page(
        request,
        task,
        "archives/manage/archive.html",
        "archives",
        fragment="archives/_job.html",
        job=await archive_out(request, export),
    )
