"""Archives of tasks as JSON: asked for, fetched, sent, cloned."""

import uuid
from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.responses import FileResponse

from dynabench.datasets.archives import service
from dynabench.kit import errors, jobs
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.schemas import Page, StrictModel
from dynabench.people.accounts.auth import Member, limited, needs, scope
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds import uploaded_files
from dynabench.rounds.owner_api import BINARY_BODY

router = APIRouter(prefix="/api/v1", tags=["archives"], dependencies=[Depends(scope("manage"))])
SELDOM = [Depends(limited("archive", 20, 3600))]
NewId = Annotated[str, Field(max_length=60, description="The id of the task that is made.")]


class ArchiveIn(StrictModel):
    """The contents that an archive is to have."""

    examples: bool = Field(True, description="Without, it holds the newest config, contexts and seeds alone.")


class TaskCloneIn(StrictModel):
    """Another task like this one."""

    id: NewId


class ArchiveOut(BaseModel):
    """An archive that is written, or a task that is made of one."""

    id: str
    kind: str = Field(description="`export` or `import`.")
    task: str
    state: str = Field(description="`queued`, `running`, `done`, `failed` or `cancelled`.")
    created_at: datetime
    progress: dict[str, Any] | None = Field(None, description="`done` of `of`, rows or bytes.")
    result: dict[str, Any] | None = Field(None, description="Rows by list; for an export its size in `bytes`.")
    error: str | None = None


class ArchiveList(Page[ArchiveOut]):
    """Archives, newest first, all on one page."""


async def archive_out(request: Request, job: jobs.Job) -> ArchiveOut:
    """Return the progress of an archive job."""
    state = await to_thread.run_sync(jobs.progress, request.app.state.settings, job)
    kind = "export" if job.kind == service.EXPORT_KIND else "import"
    return ArchiveOut.model_validate(state | {"kind": kind, "task": job.payload["task"], "created_at": job.created_at})


@router.post("/tasks/{task}/archives", status_code=202, dependencies=SELDOM)
async def write_archive(request: Request, db: Db, task: str, body: ArchiveIn, person: Member) -> ArchiveOut:
    """Ask for an archive of the whole task (owners); you are told when it is ready."""
    return await archive_out(request, await db.awrite(service.request_export, person, task, examples=body.examples))


@router.get("/tasks/{task}/archives")
async def list_archives(request: Request, db: Db, task: str, person: Member) -> ArchiveList:
    """The task's newest archives (owners)."""

    def read(session: Session) -> list[jobs.Job]:
        rounds.require(session, person, Action.ARCHIVE_TASK, task)
        return service.list_exports(session, task)

    exports = await db.aread(read)
    return ArchiveList(items=[await archive_out(request, job) for job in exports])


@router.post("/tasks/{task}/clone", status_code=202, dependencies=SELDOM)
async def clone_task(request: Request, task: str, body: TaskCloneIn, person: Member) -> ArchiveOut:
    """Make another task with this one's newest config, contexts and seeds (owners, who may make tasks)."""
    state = request.app.state
    return await archive_out(
        request, await state.db.awrite(service.request_clone, person, state.settings.new_tasks, task, body.id)
    )


@router.post("/archives", status_code=202, openapi_extra=BINARY_BODY, dependencies=SELDOM)
async def send_archive(
    request: Request,
    person: Member,
    id: Annotated[str, Query(max_length=60, description="The id of the task that is made.")],
) -> ArchiveOut:
    """Send an archive as the body; a task is made of it in the background, and you own it."""
    state = request.app.state
    await state.db.aread(service.require_free_id, person, state.settings.new_tasks, id)
    path = uploaded_files.uploads_folder(state.settings) / f"{uuid.uuid4()}.zip"
    await uploaded_files.write_stream(path, request.stream())
    try:
        await to_thread.run_sync(service.check_readable, path)
        job = await state.db.awrite(service.request_import, person, state.settings.new_tasks, id, path, f"{id}.zip")
    except errors.Problem:
        path.unlink(missing_ok=True)
        raise
    return await archive_out(request, job)


@router.get("/archives/{job}")
async def read_archive(request: Request, db: Db, job: UUID, person: Member) -> ArchiveOut:
    """Return the progress of an archive job.

    An export is shown to the task's owners, an import to the person who asked for the new task.
    """
    return await archive_out(request, await db.aread(service.archive_job, person, job))


@router.get("/archives/{job}/file", response_class=FileResponse)
@needs("manage")
async def fetch_archive(settings: AppSettings, db: Db, job: UUID, person: Member) -> FileResponse:
    """The zip file (owners)."""
    archive = await db.aread(service.archive_job, person, job)
    place = service.finished_archive(settings, archive)
    return FileResponse(place, media_type="application/zip", filename=f"{archive.payload['task']}.zip")
