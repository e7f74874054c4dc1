"""Several contexts at once: tagged, weighted, retired or handed out again; and contexts made of a dataset."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData, UploadFile
from starlette.responses import Response

from dynabench.datasets import conversions, library
from dynabench.kit import errors
from dynabench.kit.api import After, AppSettings, Db, csv_response
from dynabench.kit.db import Database
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import context_files, owner_lists, queries, service, uploaded_files
from dynabench.rounds.manage import frame, imports
from dynabench.rounds.manage.frame import TaskOwner
from dynabench.rounds.owner_lists import ContextChange, ContextFilter
from dynabench.tasks.fields import MediaField

router = APIRouter()

MOST_DATASETS = 200  # that one may choose among


def public_datasets(session: Session, viewer: Person, task: str) -> list[tuple[str, str]]:
    """Datasets whose rows may become contexts, as pairs of `task/name` and what is shown; the task's own first."""
    datasets = session.execute(library.list_datasets(library.dataset_filter(session, viewer))).all()
    rows = [dataset for dataset, version in datasets if Disclosure.of(viewer, dataset).rows and version is not None]
    rows.sort(key=lambda dataset: (dataset.task_id != task, dataset.task_id, dataset.name))
    return [
        (f"{dataset.task_id}/{dataset.name}", f"{dataset.title} ({dataset.task_id})")
        for dataset in rows[:MOST_DATASETS]
    ]


def read_change(form: FormData) -> tuple[list[int], ContextChange, str]:
    """The ids, what to do with them, and what the page then says.

    `then` is `tag`, `language`, `weigh`, `retire` or `restore`.
    """
    ids = [int(str(text)) for text in form.getlist("contexts") if str(text).isdecimal() and len(str(text)) < 16]
    then = str(form.get("then", ""))
    if then == "tag":
        return ids, ContextChange(tag=str(form.get("tag", "")).strip()), "tagged"
    if then == "language":
        return ids, ContextChange(language=str(form.get("language", "")).strip()), "translated"
    if then == "weigh":
        try:
            return ids, ContextChange(weight=float(str(form.get("weight", "")))), "weighed"
        except ValueError:
            raise errors.Invalid({"weight": _("Give a number from 0 to 1,000.")}) from None
    if then in ("retire", "restore"):
        return ids, ContextChange(retired=then == "retire"), f"{then}d"
    raise errors.Invalid({"contexts": _("Choose an action.")})


@router.post("/tasks/{task}/manage/contexts/changes", name="change_contexts")
async def change_contexts(request: Request, db: Db, task: str, owner: TaskOwner) -> Response:
    """Change the contexts that were ticked."""
    ids, change_of_contexts, done = read_change(await request.form())
    changed = await db.awrite(owner_lists.change_contexts, owner, task, ids, change_of_contexts)
    query: dict[str, Any] = {"done": done, "changed": changed}
    if change_of_contexts.retired is not None:
        query |= {"ids": ",".join(map(str, ids[:100])), "retired": "any" if change_of_contexts.retired else "no"}
    return redirect(request, "manage_contexts", task=task, query=query)


@router.post("/tasks/{task}/manage/contexts/datasets", name="contexts_of_dataset")
async def contexts_from_dataset(
    request: Request, settings: AppSettings, db: Db, task: str, owner: TaskOwner
) -> Response:
    """Take the rows of a public dataset, and show which column becomes which field."""
    form = await request.form()
    of_task, _, name = str(form.get("dataset", ""))[:130].partition("/")
    rows = await db.aread(conversions.source_digest, owner, task, of_task, name)
    id = await conversions.store_context_file(settings, task, rows)
    return redirect(request, "map_contexts", task=task, id=id, query={"name": f"{name}.jsonl"})


router.include_router(imports.router)

PAGE_ROWS = 25
MOST_FILES = 1000  # in one form
LATEST_IMPORTS = 5  # latest imports that are listed

Deleted = Annotated[int | None, Query(ge=0, le=2**53)]
Tag = Annotated[str | None, Query(max_length=100)]
Words = Annotated[str, Query(max_length=200)]
Retired = Literal["no", "yes", "any"]


def read_contexts(
    session: Session, owner: Person, task: str, sought: ContextFilter, after: int | None
) -> dict[str, Any]:
    """A page of contexts with the tags there are, the latest imports and datasets to take more from."""
    page = owner_lists.find_contexts(session, task, sought, after, PAGE_ROWS)
    sampling = service.newest_config(session, task).contexts.sampling
    return {
        "contexts": page.items,
        "next": page.next,
        "looked_at": owner_lists.SEARCHED if sought.words and page.next and len(page.items) < PAGE_ROWS else None,
        "sought": sought,
        "tag": sought.tag or "",
        "after": after,
        "datasets": public_datasets(session, owner, task),
        "many": queries.MANY,
        "weighted": sampling == "weighted",
        "tags": owner_lists.list_tags(session, task),
        "total": session.scalar(queries.context_count(task)),
        "imports": list(session.scalars(queries.context_imports(task, LATEST_IMPORTS))),
        "fields": service.newest_config(session, task).context,
        "alone": context_files.sole_media_field(service.newest_config(session, task)),
    }


async def contexts_page(
    request: Request, owner: Person, task: str, sought: ContextFilter, after: int | None, status: int = 200, **more: Any
) -> Response:
    """The page of contexts."""
    db: Database = request.app.state.db
    defaults: dict[str, Any] = {"errors": {}, "deleted": None, "done": "", "changed": 0, "ids": []}
    values = defaults | await db.aread(read_contexts, owner, task, sought, after) | more
    return await frame.console_page(request, task, "datasets/manage/contexts.html", "contexts", status=status, **values)


@router.get("/tasks/{task}/manage/contexts", name="manage_contexts")
async def contexts(
    request: Request,
    task: str,
    owner: TaskOwner,
    tag: Tag = None,
    q: Words = "",
    retired: Retired = "no",
    after: After = None,
    deleted: Deleted = None,
    done: Words = "",
    changed: Deleted = 0,
    ids: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Contexts, newest first, and a form for a file of more."""
    sought = ContextFilter(q, tag or None, {"no": False, "yes": True, "any": None}[retired])
    outcome: dict[str, Any] = {
        "done": done,
        "changed": changed,
        "ids": [text for text in ids.split(",") if text.isdecimal()],
    }
    return await contexts_page(request, owner, task, sought, after, deleted=deleted, **outcome)


@router.get("/tasks/{task}/manage/contexts.csv", name="download_contexts")
async def download(db: Db, task: str, owner: TaskOwner, tag: Tag = None) -> Response:
    """All contexts, or those with one tag, newest first: a file that can be sent to another task."""
    fields = [field.name for field in (await db.aread(service.newest_config, task)).context]
    rows = _rows(db, task, tag or None, fields)
    return csv_response(
        f"{task}-contexts.csv", [*fields, "tag", "language", "examples", "fooled", "weight", "retired"], rows
    )


def _rows(db: Database, task: str, tag: str | None, fields: Sequence[str]) -> Iterator[list[object]]:
    after: int | None = None
    while True:
        page = db.read(owner_lists.find_contexts, task, ContextFilter(tag=tag, retired=None), after, 500)
        for context in page.items:
            values = [context.values.get(name, "") for name in fields]
            yield [
                *values,
                context.tag,
                context.language,
                context.used,
                context.fooled,
                context.weight,
                context.retired_at or "",
            ]
        if page.next is None:
            return
        after = int(page.next)


@router.post("/tasks/{task}/manage/contexts/files", name="send_contexts")
async def send(request: Request, settings: AppSettings, db: Db, task: str, owner: TaskOwner) -> Response:
    """Keep the files and show what is in them."""
    async with request.form(max_files=MOST_FILES) as form:
        sent = [upload for upload in form.getlist("file") if isinstance(upload, UploadFile) and upload.filename]
        try:
            id = await _store_files(request, task, sent)
            path = uploaded_files.find_upload(settings, task, id)
            if path.suffix == context_files.ZIP_ENDING:
                await to_thread.run_sync(context_files.extract_zip_rows, db, settings, task, owner.id, path)
            await to_thread.run_sync(imports.preview_file, uploaded_files.find_upload(settings, task, id))
        except errors.Invalid as problem:
            return await contexts_page(request, owner, task, ContextFilter(), None, status=422, errors=problem.fields)
    name = str(sent[0].filename)[:200] if len(sent) == 1 else f"{len(sent)} files"
    return redirect(request, "map_contexts", task=task, id=id, query={"name": name})


async def _store_files(request: Request, task: str, sent: Sequence[UploadFile]) -> UUID:
    """A table or a zip as it was sent; other files, or several, as a zip of them, where contexts have files."""
    settings = request.app.state.settings
    if not sent:
        raise errors.Invalid({"file": _("Choose a file first.")})
    config = await request.app.state.db.aread(service.newest_config, task)
    whole = str(sent[0].filename).lower().endswith((context_files.ZIP_ENDING, *context_files.TABLES))
    media = any(isinstance(field, MediaField) for field in config.context)
    if media and (len(sent) > 1 or not whole):
        pairs = [(str(upload.filename), upload.file) for upload in sent]
        return await to_thread.run_sync(context_files.pack_files, settings, task, pairs)
    if len(sent) > 1:
        raise errors.Invalid({"file": _("Choose one file: contexts of this task have no media files.")})
    return await uploaded_files.store_upload(
        settings, task, str(sent[0].filename), sent[0], zipped=(context_files.ZIP_ENDING,)
    )


@router.post("/tasks/{task}/manage/contexts/{id}/delete", name="discard_context")
async def delete(request: Request, db: Db, task: str, id: RowId, owner: TaskOwner) -> Response:
    """Remove a context that nobody was given yet."""
    await db.awrite(owner_lists.delete_context, owner, task, id)
    return redirect(request, "manage_contexts", task=task, query={"deleted": id})
