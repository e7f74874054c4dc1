"""Files of contexts, sent as they are and imported in the background."""

import uuid
from pathlib import Path
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel
from sqlalchemy.orm import Session

from dynabench.intake import reader
from dynabench.intake.mapping import ColumnMapping
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.storable import printable
from dynabench.people.accounts.auth import Member
from dynabench.people.may import Action
from dynabench.rounds import archives, owner_lists, schemas, service, waiting
from dynabench.rounds.owner_api import After, Limit

router = APIRouter()

LONGEST_NAME = 200  # of a column
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


def enqueue(session: Session, person: Member, task: str, path: Path, name: str, mapping: ColumnMapping | None) -> str:
    """Ask for the import of the stored file at `path`, which was called `name` (owners); the job's id."""
    service.require(session, person, Action.MANAGE_CONTEXTS, task)
    payload = {"task": task, "person": person.id, "file": str(path), "name": name}
    payload["mapping"] = mapping.model_dump(mode="json", exclude_defaults=True) if mapping else None
    return jobs.enqueue(session, "import_contexts", payload, person.id).id


def _read_mapping(pairs: list[str], tag: str) -> ColumnMapping | None:
    if not pairs and not tag:
        return None
    split = [pair.partition("=") for pair in pairs]
    if wrong := [
        field for field, equals, column in split if not (field and equals and 0 < len(column) <= LONGEST_NAME)
    ]:
        raise errors.Invalid({"column": _("Give FIELD=COLUMN, not %(wrong)s.", wrong=repr(printable(wrong[0])))})
    return ColumnMapping.of_context({field: column for field, _, column in split}, tag)


@router.post("/tasks/{task}/contexts/files", status_code=202, openapi_extra=RAW)
async def upload_file(
    request: Request,
    task: str,
    person: Member,
    name: Annotated[str, Query(max_length=200, description="The file's name; its ending tells its kind.")],
    column: Annotated[list[str], Query(max_length=50, description="FIELD=COLUMN, for each field.")] = [],  # noqa: B006
    tag: Annotated[str, Query(max_length=200, description="The column that holds tags.")] = "",
) -> ImportOut:
    """Send a file of contexts as the body (JSONL, CSV, TSV, JSON or Parquet), or a zip of one with the pictures, sounds
    and files that its cells name (owners); it is imported in the background.

    Without any `column` the file's columns are named like the fields, and `tag` holds tags.
    """
    db: Database = request.app.state.db
    await db.aread(service.require, person, Action.MANAGE_CONTEXTS, task)
    try:
        ending = archives.ENDING if name.lower().endswith(archives.ENDING) else reader.ending_of_file(name)
    except errors.Invalid as problem:
        raise errors.Invalid({"name": problem.fields["file"]}) from None
    mapping = _read_mapping(column, tag)
    path = waiting.folder(request.app.state.settings) / f"{uuid.uuid4()}{ending}"
    await waiting.write(path, request.stream())
    if path.suffix == archives.ENDING:
        path = await to_thread.run_sync(archives.rows, db, request.app.state.settings, task, person.id, path)
    return ImportOut(id=await db.awrite(enqueue, person, task, path, name, mapping), state="queued")


@router.get("/tasks/{task}/contexts/files/{job}")
async def read_import(request: Request, task: str, job: str, person: Member) -> ImportOut:
    """Return the progress of an import (owners)."""
    db: Database = request.app.state.db
    found = await db.aread(job_of, person, task, job)
    state = await to_thread.run_sync(jobs.progress, request.app.state.settings, found)
    return ImportOut.model_validate(state)


@router.get("/tasks/{task}/contexts/files/{job}/refused")
async def list_refused(
    request: Request, task: str, job: str, person: Member, after: After = "", limit: Limit = 50
) -> schemas.RefusedPage:
    """The rows that an import left out, with the reasons, in the file's order (owners)."""
    db: Database = request.app.state.db

    def read(session: Session) -> schemas.RefusedPage:
        return owner_lists.refused(session, job_of(session, person, task, job).id, after, limit)

    return await db.aread(read)


def job_of(session: Session, person: Member, task: str, job: str) -> jobs.Job:
    """An import of the task's contexts, for its owners."""
    service.require(session, person, Action.MANAGE_CONTEXTS, task)
    found = session.get(jobs.Job, job)
    if found is None or found.kind != "import_contexts" or found.payload.get("task") != task:
        raise errors.NotFound(_("There is no import %(job)s of this task.", job=repr(job)))
    return found
