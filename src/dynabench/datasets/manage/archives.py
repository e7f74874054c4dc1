"""A task as one file, and another task like it."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import FileResponse, RedirectResponse, Response

from dynabench.datasets.archives import service
from dynabench.datasets.archives.api import fetch_archive, told
from dynabench.kit import errors, jobs
from dynabench.people import may
from dynabench.people.accounts.auth import limited
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.access import Owning

router = APIRouter()
SELDOM = [Depends(limited("archive", 20, 3600))]


async def _page(request: Request, task: str, owner: Person, status: int = 200, **values: Any) -> Response:
    state = request.app.state
    found = [await told(request, each) for each in await state.db.aread(service.listed, task)]
    lying = {each.id for each in found if service.file_of(state.settings, each.id).is_file()}
    known: dict[str, Any] = {"archives": found, "lying": lying, "errors": {}, "typed": "", "problem": ""}
    known["may"] = state.settings.new_tasks == "free" or bool(may.may(owner, Action.CREATE_TASK))
    return await frame.page(
        request, task, "archives/manage/archives.html", "archives", status=status, **(known | values)
    )


@router.get("/tasks/{task}/manage/archives", name="manage_archives")
async def archives(request: Request, task: str, owner: Owning) -> Response:
    """The archives that were asked for, a button for another, and a form for a clone."""
    return await _page(request, task, owner)


def _to(request: Request, job: jobs.Job) -> Response:
    return RedirectResponse(str(request.app.url_path_for("archive_job", job=job.id)), status_code=303)


@router.post("/tasks/{task}/manage/archives", name="write_archive_form", dependencies=SELDOM)
async def write(
    request: Request, task: str, owner: Owning, examples: Annotated[str, Form(max_length=10)] = ""
) -> Response:
    """Ask for an archive."""
    job = await request.app.state.db.awrite(service.export, owner, task, examples=bool(examples))
    return RedirectResponse(str(request.app.url_path_for("manage_archive", task=task, job=job.id)), status_code=303)


@router.post("/tasks/{task}/manage/clone", name="clone_task_form", dependencies=SELDOM)
async def clone(request: Request, task: str, owner: Owning, id: Annotated[str, Form(max_length=100)] = "") -> Response:
    """Ask for another task like this one."""
    state = request.app.state
    try:
        job = await state.db.awrite(service.clone, owner, state.settings.new_tasks, task, id.strip())
    except errors.Invalid as problem:
        return await _page(request, task, owner, 422, errors=problem.fields, typed=id)
    except errors.Forbidden as problem:
        return await _page(request, task, owner, 403, problem=problem.detail)
    return _to(request, job)


@router.get("/tasks/{task}/manage/archives/{job}.zip", name="fetch_archive_file")
async def fetch(request: Request, task: str, job: UUID, owner: Owning) -> FileResponse:
    """The file."""
    return await fetch_archive(request, job, owner)


@router.get("/tasks/{task}/manage/archives/{job}", name="manage_archive")
async def one(request: Request, task: str, job: UUID, owner: Owning) -> Response:
    """Show the progress of an archive, and its download link once it is done."""
    found = await request.app.state.db.aread(service.job_of, owner, job)
    if found.payload["task"] != task:
        raise errors.NotFound(service.GONE)
    return await frame.page(
        request,
        task,
        "archives/manage/archive.html",
        "archives",
        fragment="archives/_job.html",
        job=await told(request, found),
    )
