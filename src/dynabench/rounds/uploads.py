"""Files of contexts, sent as they are and imported in the background."""

import uuid
from pathlib import Path
from typing import Annotated, Any

from anyio import open_file, to_thread
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session

from dynabench import errors, jobs
from dynabench.accounts.auth import Member
from dynabench.db import Database
from dynabench.rounds import files, service

router = APIRouter()

RAW: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ImportOut(BaseModel):
    """An import: `queued`, `running`, `done`, `failed` or `cancelled`, with its progress, result or error."""

    id: str
    state: str
    progress: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    error: str | None = None


def _keep(session: Session, person: Member, task: str, path: str) -> str:
    return jobs.enqueue(session, "import_contexts", {"task": task, "person": person.id, "file": path}, person.id).id


@router.post("/tasks/{task}/contexts/files", status_code=202, openapi_extra=RAW)
async def upload_file(
    request: Request,
    task: str,
    person: Member,
    name: Annotated[str, Query(max_length=200, description="The file's name; its ending tells JSONL from CSV.")],
) -> ImportOut:
    """Send a JSONL or CSV file of contexts as the body (owners); it is imported in the background."""
    db: Database = request.app.state.db
    await db.aread(service.require_owner, person, task)
    try:
        files.reader(Path(name))
    except errors.Invalid as problem:
        raise errors.Invalid({"name": problem.fields["file"]}) from None
    folder = request.app.state.settings.folder / "uploads"
    folder.mkdir(exist_ok=True, mode=0o700)
    path = folder / f"{uuid.uuid4()}{Path(name).suffix.lower()}"
    try:
        async with await open_file(path, "xb") as file:
            async for chunk in request.stream():
                await file.write(chunk)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return ImportOut(id=await db.awrite(_keep, person, task, str(path)), state="queued")


@router.get("/tasks/{task}/contexts/files/{job}")
async def read_import(request: Request, task: str, job: str, person: Member) -> ImportOut:
    """How an import goes (owners)."""
    db: Database = request.app.state.db
    found = await db.aread(_job, person, task, job)
    state = await to_thread.run_sync(jobs.progress, request.app.state.settings, found)
    return ImportOut.model_validate(state)


def _job(session: Session, person: Member, task: str, job: str) -> jobs.Job:
    service.require_owner(session, person, task)
    found = session.get(jobs.Job, job)
    if found is None or found.payload.get("task") != task:
        raise errors.NotFound(f"There is no import {job!r} of this task.")
    return found
