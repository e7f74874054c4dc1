"""Exports and imports as JSON, and as files."""

from typing import Annotated, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from pydantic import Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.datasets import conversions, library_api, schemas, scopes, service, twin_api
from dynabench.datasets.downloads import export_response
from dynabench.datasets.formats import Format
from dynabench.datasets.schemas import DataImportOut, HubIn, ImportPreviewOut, PlanIn, StartIn
from dynabench.kit import errors, jobs
from dynabench.kit.api import After, AppSettings, Db, Limit
from dynabench.people.accounts.auth import Member, Viewer, limited, scope
from dynabench.people.may import Action
from dynabench.rounds import owner_api, owner_lists, uploaded_files
from dynabench.rounds import schemas as round_schemas
from dynabench.rounds import service as rounds

Number = Annotated[int, Field(ge=1, le=2**31 - 1)] | Literal[""]
"""A round; empty, as forms send it where nothing is chosen, for all."""

router = APIRouter(prefix="/api/v1", tags=["datasets"], dependencies=[Depends(scope("manage"))])
router.include_router(twin_api.router)
router.include_router(conversions.router)


@router.get(
    "/tasks/{task}/export",
    dependencies=[Depends(limited("export", 20, 60))],
    response_class=Response,
    responses={200: {"description": "The rows, in the order in which they were written.", "content": {
        "application/x-ndjson": {}, "text/csv": {}, "application/vnd.apache.parquet": {}, "application/zip": {}}}},
)  # fmt: skip
async def export(
    settings: AppSettings,
    db: Db,
    task: str,
    viewer: Viewer,
    round: Annotated[Number, Query(description="One round; empty for all.")] = "",
    format: Format = "jsonl",
    attributions: Annotated[bool, Query(description="With the words that models looked at.")] = False,
) -> Response:
    """The task's examples with their predictions and votes, people as pseudonyms: released rounds, all for owners.

    A `zip` has the rows as `rows.jsonl` and the pictures, sounds and files that they show beside it. The rows are sent
    while they are read, from one moment's state of the database.
    """
    if viewer is None:
        scope = await db.aread(scopes.visitor_scope, task, round or None, attributions=attributions)
    else:
        scope = await db.aread(scopes.export_scope, viewer, task, round or None, attributions=attributions)
    return export_response(db, settings, scope, format)


@router.post("/tasks/{task}/imports/files", status_code=201, openapi_extra=owner_api.BINARY_BODY)
async def send_file(
    request: Request,
    settings: AppSettings,
    db: Db,
    task: str,
    person: Member,
    name: owner_api.FileName,
) -> ImportPreviewOut:
    """Send a file as the body (owners): JSONL, CSV, TSV, JSON or Parquet. It waits for its start, for a day."""
    config = await db.aread(rounds.require_config, person, Action.IMPORT_DATA, task)
    path = await uploaded_files.store_named_upload(settings, task, name, request.stream())
    try:
        return await to_thread.run_sync(service.preview_import, path, config, PlanIn())
    except errors.Problem:
        path.unlink(missing_ok=True)
        raise


@router.post("/tasks/{task}/imports/preview")
async def preview(settings: AppSettings, db: Db, task: str, body: StartIn, person: Member) -> ImportPreviewOut:
    """The first rows of a file that waits, as a plan reads them (owners)."""
    config = await db.aread(rounds.require_config, person, Action.IMPORT_DATA, task)
    path = uploaded_files.find_named_upload(settings, task, body.file)
    return await to_thread.run_sync(service.preview_import, path, config, body)


@router.post("/tasks/{task}/imports", status_code=202)
async def start(settings: AppSettings, db: Db, task: str, body: StartIn, person: Member) -> DataImportOut:
    """Import a file that waits, in the background (owners)."""
    job = await db.awrite(service.start_import, person, settings, task, body.file, body)
    return DataImportOut(id=job.id, name=job.payload["name"], into=job.payload["into"], state="queued")


@router.post("/tasks/{task}/imports/hub", status_code=202)
async def start_hub(db: Db, task: str, body: HubIn, person: Member) -> DataImportOut:
    """Import a dataset of the hub by its id, in the background (owners)."""
    job = await db.awrite(service.start_hub_import, person, task, body)
    return DataImportOut(id=job.id, name=job.payload["name"], into=job.payload["into"], state="queued")


@router.get("/tasks/{task}/imports")
async def list_imports(request: Request, db: Db, task: str, person: Member) -> schemas.DataImportPage:
    """The task's newest imports (owners)."""
    import_jobs = await db.aread(service.list_imports, person, task)
    items = [await import_out(request, job) for job in import_jobs]
    return schemas.DataImportPage(items=items, next=None)


async def import_out(request: Request, job: jobs.Job) -> DataImportOut:
    """Return the progress of an import."""
    state = await to_thread.run_sync(jobs.progress, request.app.state.settings, job)
    named = {"name": job.payload["name"], "into": job.payload["into"]}
    return DataImportOut.model_validate(named | {key: state[key] for key in state if key != "kind"})


@router.get("/tasks/{task}/imports/{job}")
async def read_import(request: Request, db: Db, task: str, job: str, person: Member) -> DataImportOut:
    """Return the progress of an import (owners)."""
    return await import_out(request, await db.aread(service.import_job, person, task, job))


@router.get("/tasks/{task}/imports/{job}/refused")
async def list_refused(
    db: Db, task: str, job: str, person: Member, after: After = None, limit: Limit = 50
) -> round_schemas.RefusedPage:
    """The rows that an import left out, with the reasons, in the file's order (owners)."""

    def read(session: Session) -> round_schemas.RefusedPage:
        return owner_lists.list_refused_rows(session, service.import_job(session, person, task, job).id, after, limit)

    return await db.aread(read)


router.include_router(library_api.router)
