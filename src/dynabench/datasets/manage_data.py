"""Data pages of a task's owner: exports, and imports of examples, contexts and seeds."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.datasets import service
from dynabench.datasets.formats import FORMATS
from dynabench.datasets.imports.batches import INTO
from dynabench.datasets.schemas import HubIn, ImportPreviewOut, PlanIn, PreviewRow
from dynabench.intake.mapping import PRESETS, find_column
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.db import Database
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds import uploaded_files
from dynabench.rounds.manage import frame, imports
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.views import started_rounds
from dynabench.web.pages import wants_fragment

router = APIRouter()
HIDDEN = ("uid",)  # made up, or of no interest before it is stored
MAP = "map."  # before a field's name: the column that it comes from


def _own_imports(session: Session, person: Person, task: str) -> dict[str, Any]:
    return {"imports": service.list_imports(session, person, task)[:10], "rounds": started_rounds(session, task)}


async def _data_page(request: Request, task: str, owner: Person, status: int = 200, **values: Any) -> Response:
    db: Database = request.app.state.db
    values_shown = {"formats": list(FORMATS), "errors": {}, "given": {}, "hub": request.app.state.settings.hub_url}
    values_shown |= {"presets": PRESETS, "into": INTO, **await db.aread(_own_imports, owner, task)}
    return await frame.console_page(
        request, task, "datasets/manage/data.html", "data", status=status, **(values_shown | values)
    )


@router.get("/tasks/{task}/manage/data", name="manage_data")
async def show(request: Request, task: str, owner: TaskOwner) -> Response:
    """Exports of the task and its rounds, files and datasets to bring in, and what was brought in."""
    return await _data_page(request, task, owner)


@router.post("/tasks/{task}/manage/data/files", name="send_data")
async def send(request: Request, settings: AppSettings, task: str, owner: TaskOwner) -> Response:
    """Keep the file and show what is in it."""
    async with request.form() as form:
        try:
            path = await uploaded_files.store_form_file(settings, task, form)
            await _refuse_unreadable(request, task, owner, path)
        except (errors.Invalid, errors.TooLarge) as problem:
            return await _data_page(request, task, owner, 422, errors=uploaded_files.upload_errors(problem))
    return redirect(request, "map_data", task=task, file=path.name.partition("--")[0])


async def _refuse_unreadable(request: Request, task: str, owner: Person, path: Path) -> None:
    """Throw a file away at once that cannot be read at all."""
    db: Database = request.app.state.db
    try:
        config = await db.aread(rounds.require_config, owner, Action.IMPORT_DATA, task)
        await to_thread.run_sync(service.preview_import, path, config, PlanIn())
    except errors.Problem:
        path.unlink(missing_ok=True)
        raise


def _plan(form_values: Any) -> PlanIn:
    mapping: Any = str(form_values.get("mapping", ""))[:100_000].strip()
    into, form = str(form_values.get("into", "examples"))[:20], str(form_values.get("format", "auto"))[:20]
    if form == "mapping" and not mapping:
        chosen = {
            name[len(MAP) :]: str(form_values[name])[:200]
            for name in form_values
            if name.startswith(MAP) and form_values[name]
        }
        mapping = {"fields": chosen} if chosen else None
    return PlanIn(into=into, format=form, mapping=mapping or None)


async def _preview(request: Request, task: str, owner: Person, file: str, form_values: Any) -> Response:
    db: Database = request.app.state.db
    config = await db.aread(rounds.require_config, owner, Action.IMPORT_DATA, task)
    path = uploaded_files.find_named_upload(request.app.state.settings, task, file)
    preview = await to_thread.run_sync(service.preview_import, path, config, plan := _plan(form_values))
    fields = _fields(config)
    names, sheet = _sheet(preview)
    values = {
        "names": names, "sheet": sheet,
        "found": preview, "plan": plan, "touched": "format" in form_values,
        "columns": _columns(plan, preview, fields), "fields": fields,
        "into": INTO, "presets": PRESETS,
        "address": str(request.app.url_path_for("map_data", task=task, file=file)),
    }  # fmt: skip
    part = "datasets/manage/_data_preview.html" if wants_fragment(request) else None
    status = 422 if preview.problem and request.method == "POST" else 200
    return await frame.console_page(
        request, task, "datasets/manage/data_file.html", "data", status=status, fragment=part, **values
    )


def _fields(config: Any) -> dict[str, str]:
    """The names that a mapping may give columns to, with the labels that people read."""
    groups = (("context", "context"), ("input", "input"), ("answer", "answer"), ("explanation", "ask"))
    labels = {f"{prefix}.{field.name}": field.label for prefix, group in groups for field in config.fields(group)}
    return labels | {"tag": _("Tag"), "author": _("Author"), "uid": _("Row id")}


def _sheet(preview: ImportPreviewOut) -> tuple[list[str], list[tuple[PreviewRow, list[str]]]]:
    """The first rows as a table: the names of what any of them holds, and each row with its cells."""
    flat = [{name: text for name, text in _cells(row.values or {}) if text} for row in preview.rows]
    names = list(dict.fromkeys(name for cells in flat for name in cells))
    return names, [
        (row, [cells.get(name, "") for name in names]) for row, cells in zip(preview.rows, flat, strict=True)
    ]


def _cells(values: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if name == "fooled":
            yield name, {True: "✓", None: "?"}.get(value, "")
        elif isinstance(value, dict):
            yield from ((field, str(part)) for field, part in value.items())
        elif name not in HIDDEN:
            yield name, ", ".join(map(str, value)) if isinstance(value, list) else str(value or "")


def _columns(plan: PlanIn, preview: ImportPreviewOut, fields: Iterable[str]) -> dict[str, str]:
    """The column that each field comes from: as chosen, else the one that is called like it."""
    if isinstance(plan.mapping, dict):
        return {name: str(column) for name, column in plan.mapping.get("fields", {}).items()}
    suggested = {field: find_column(preview.columns, field.rpartition(".")[2]) for field in fields}
    return {field: column for field, column in suggested.items() if column}


@router.get("/tasks/{task}/manage/data/files/{file}", name="map_data")
async def look(request: Request, task: str, file: str, owner: TaskOwner) -> Response:
    """The first rows under what the file looks like, or under the choices in the query."""
    return await _preview(request, task, owner, file, request.query_params)


@router.post("/tasks/{task}/manage/data/files/{file}", name="import_data")
async def start(request: Request, settings: AppSettings, db: Db, task: str, file: str, owner: TaskOwner) -> Response:
    """Import the whole file, in the background; or (`then` = look) show the first rows anew."""
    form = await request.form()
    if form.get("then") == "look":
        return await _preview(request, task, owner, file, form)
    uploaded_files.find_named_upload(settings, task, file)
    try:
        job = await db.awrite(service.start_import, owner, settings, task, file, _plan(form))
    except errors.Invalid:
        return await _preview(request, task, owner, file, form)
    return redirect(request, "data_import", task=task, job=job.id)


@router.post("/tasks/{task}/manage/data/hub", name="import_hub")
async def start_hub(request: Request, db: Db, task: str, owner: TaskOwner) -> Response:
    """Import a dataset of the hub, in the background."""
    form = await request.form()
    typed = {name: str(form.get(name, ""))[:100].strip() for name in ("dataset", "config", "split", "revision")}
    try:
        body = HubIn(**typed, **_plan(form).model_dump())
        job = await db.awrite(service.start_hub_import, owner, task, body)
    except errors.Invalid as problem:
        return await _data_page(request, task, owner, 422, errors=problem.fields, given=typed)
    return redirect(request, "data_import", task=task, job=job.id)


@router.get("/tasks/{task}/manage/data/imports/{job}", name="data_import")
async def progress(request: Request, db: Db, task: str, job: str, owner: TaskOwner) -> Response:
    """Show the progress of an import, and the rows that it left out."""
    import_ = await db.aread(service.import_job, owner, task, job)
    counts = (import_.done or {}).get("state")
    return await imports.import_page(request, task, import_, "data", counts, "data_import", "refused_data")


@router.get("/tasks/{task}/manage/data/imports/{job}/refused.csv", name="refused_data")
async def download(db: Db, task: str, job: str, owner: TaskOwner) -> Response:
    """All rows that an import left out, with number and reason."""
    return await imports.refused_response(db, await db.aread(service.import_job, owner, task, job))
