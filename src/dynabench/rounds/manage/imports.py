"""A file of contexts on its way in: sent, its columns told apart on the first rows, imported, its bad rows given back.

`sheet` and the templates `_mapping.html` and `_import.html` know nothing of contexts but the names of fields, so that
imports of other things can show the same.
"""

from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.intake.mapping import ColumnMapping, FilePreview, choose_columns, preview_rows, suggest_columns
from dynabench.kit import errors, jobs
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.db import Database, now
from dynabench.kit.forms import redirect
from dynabench.kit.jobs import JobState
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.rounds import context_files, contexts, owner_api, owner_lists, service, uploaded_files
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Field
from dynabench.web.pages import wants_fragment

router = APIRouter()

Name = Annotated[str, Query(max_length=200)]
PREVIEW_ROWS = 10  # rows of a preview
BAD_ROWS = 50  # refused rows on the page; the file has all


def preview_file(path: Path) -> FilePreview:
    """Return the first rows of a file. Raises `Invalid` for a file of which nothing can be read."""
    return preview_rows(context_files.read_fields(path), PREVIEW_ROWS).require_rows()


def preview_contexts(config: TaskConfig, preview: FilePreview, mapping: ColumnMapping) -> list[dict[str, Any]]:
    """The first rows as they would be imported: `number`, `values` by field, `tag`, and the `error` of a bad one."""
    return [_previewed(config, context_files.context_row(config, row, mapping)) for row in preview.rows]


def missing_fields(config: TaskConfig, mapping: ColumnMapping) -> list[Field]:
    """The fields that every row needs and no column was found or chosen for: without them no row can be taken."""
    columns = mapping.context_columns()
    return [field for field in config.context if field.required and not field.when and field.name not in columns]


def _previewed(config: TaskConfig, row: contexts.ContextRow) -> dict[str, Any]:
    preview = {"number": row.number, "values": row.values or {}, "tag": row.tag, "error": row.error}
    if not row.error:
        try:
            preview["values"] = config.clean_context(row.values)
        except errors.Invalid as problem:
            preview["error"] = problem.detail
    return preview


async def _preview(
    request: Request, task: str, id: UUID, name: str, picked: dict[str, str] | None, status: int = 200
) -> Response:
    settings: Settings = request.app.state.settings
    db: Database = request.app.state.db
    config = await db.aread(service.newest_config, task)
    fields = [field.name for field in config.context]
    preview = await to_thread.run_sync(preview_file, uploaded_files.find_upload(settings, task, id))
    wrong: dict[str, str] = {}
    mapping = suggest_columns(preview.columns, fields)
    if picked is not None:
        try:
            mapping = choose_columns(preview.columns, fields, picked)
        except errors.Invalid as problem:
            wrong, status = problem.fields, 422
    missing = missing_fields(config, mapping)
    rows = [] if missing else preview_contexts(config, preview, mapping)
    if missing and status == 422:
        wrong = {f"field.{field.name}": _("Choose the column to read.") for field in missing} | wrong
    values = {
        "address": str(request.app.url_path_for("map_contexts", task=task, id=id)),
        "file_name": name,
        "sheet": preview,
        "fields": config.context,
        "mapping": mapping,
        "columns": mapping.context_columns(),
        "picked": picked or {},
        "rows": rows,
        "unread": missing,
        "bad": sum(bool(row["error"]) for row in rows),
        "errors": wrong,
    }
    part = "rounds/manage/_preview.html" if wants_fragment(request) else None
    return await frame.console_page(
        request, task, "rounds/manage/mapping.html", "contexts", status=status, fragment=part, **values
    )


def _picked_columns(values: Any) -> dict[str, str] | None:
    """The choices among posted or queried values; None where none were made yet."""
    names = [name for name in values if name.startswith("field.") or name in ("tag", "fixed_tag")]
    return {name: str(values[name])[:200] for name in names} or None


@router.get("/tasks/{task}/manage/contexts/files/{id}", name="map_contexts")
async def show(request: Request, task: str, id: UUID, owner: TaskOwner, name: Name = "") -> Response:
    """The first rows under a guess of which column is what, or under the choices in the query."""
    return await _preview(request, task, id, name, _picked_columns(request.query_params))


@router.post("/tasks/{task}/manage/contexts/files/{id}", name="import_contexts")
async def start(request: Request, settings: AppSettings, db: Db, task: str, id: UUID, owner: TaskOwner) -> Response:
    """Import the whole file with these columns, in the background; or (`then` = look) show the first rows anew."""
    form: FormData = await request.form()
    name, picked = str(form.get("name", ""))[:200], _picked_columns(form) or {}
    path = uploaded_files.find_upload(settings, task, id)
    preview = await to_thread.run_sync(preview_file, path)
    config = await db.aread(service.newest_config, task)
    if form.get("then") == "look":
        return await _preview(request, task, id, name, picked)
    try:
        mapping = choose_columns(preview.columns, [field.name for field in config.context], picked)
    except errors.Invalid:
        return await _preview(request, task, id, name, picked)
    if missing_fields(config, mapping):
        return await _preview(request, task, id, name, picked, 422)
    claimed = uploaded_files.claim_upload(settings, path)
    job = await db.awrite(owner_api.enqueue_import, owner, task, claimed, name or path.name, mapping)
    return redirect(request, "contexts_import", task=task, job=job)


def _seconds_left(job: jobs.Job, status: dict[str, Any]) -> float | None:
    """Seconds until the import ends, judged by how far it has come since it was asked for; None if that is unknown."""
    progress = status["progress"]
    if status["state"] != JobState.RUNNING or not progress or not progress["bytes"]:
        return None
    gone = (now() - job.created_at).total_seconds()
    return float(gone * (progress["of"] - progress["bytes"]) / progress["bytes"])


@router.get("/tasks/{task}/manage/contexts/imports/{job}", name="contexts_import")
async def progress(request: Request, db: Db, task: str, job: str, owner: TaskOwner) -> Response:
    """Show the progress of an import, and the rows that it left out."""
    import_ = await db.aread(owner_api.import_job, owner, task, job)
    return await import_page(request, task, import_, "contexts", import_.done, "contexts_import", "refused_contexts")


async def import_page(
    request: Request, task: str, job: jobs.Job, section: str, counts: Any, here: str, download: str
) -> Response:
    """The page of an import of a section; `counts` stand where the job tells none, `here` and `download` are routes."""
    status = await to_thread.run_sync(jobs.progress, request.app.state.settings, job)
    refused = await request.app.state.db.aread(owner_lists.list_refused_rows, job.id, None, BAD_ROWS)
    values = {
        "job": job,
        "told": status,
        "counts": status["result"] or status["progress"] or counts or {},
        "left": _seconds_left(job, status),
        "refused": refused.items,
        "here": str(request.app.url_path_for(here, task=task, job=job.id)),
        "back": str(request.app.url_path_for(f"manage_{section}", task=task)),
        "download": str(request.app.url_path_for(download, task=task, job=job.id)),
    }
    return await frame.console_page(
        request, task, "rounds/manage/import.html", section, fragment="rounds/manage/_import.html", **values
    )


@router.get("/tasks/{task}/manage/contexts/imports/{job}/refused.csv", name="refused_contexts")
async def download(db: Db, task: str, job: str, owner: TaskOwner) -> Response:
    """All rows that an import left out, with line and reason, as the file had them: to be mended and sent again."""
    return await refused_response(db, await db.aread(owner_api.import_job, owner, task, job))


async def refused_response(db: Database, job: jobs.Job) -> Response:
    """The rows that a job left out as a CSV file."""
    name = Path(str(job.payload.get("name") or "rows")).stem
    stem = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in name)[:60]
    return await to_thread.run_sync(uploaded_files.refused_file, db, job.id, f"{stem or 'rows'}-refused.csv")
