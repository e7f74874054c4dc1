"""The contexts of a task: what there is, how often it was used, files to add more."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.datasets.manage import context_changes
from dynabench.kit import errors
from dynabench.kit.api import csv_response
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.tables import Person
from dynabench.rounds import archives, context_list, owner_lists, queries, service, waiting
from dynabench.rounds.context_list import Sought
from dynabench.rounds.manage import frame, imports
from dynabench.rounds.manage.access import Owning
from dynabench.tasks.fields import MediaField

router = APIRouter()
router.include_router(imports.router)
router.include_router(context_changes.router)

SHOWN = 25
MOST_FILES = 1000  # in one form
IMPORTS = 5  # latest imports that are listed

After = Annotated[str, Query(max_length=18)]
Deleted = Annotated[int | None, Query(ge=0, le=2**53)]
Tag = Annotated[str | None, Query(max_length=100)]
Words = Annotated[str, Query(max_length=200)]
Retired = Literal["no", "yes", "any"]


def read(session: Session, owner: Person, task: str, sought: Sought, after: str) -> dict[str, Any]:
    """A page of contexts with the tags there are, the latest imports and datasets to take more from."""
    found = context_list.find(session, task, sought, after, SHOWN)
    sampling = service.newest_config(session, task).contexts.sampling
    return {
        "contexts": found.items,
        "next": found.next,
        "looked_at": context_list.LOOKED_AT if sought.words and found.next and len(found.items) < SHOWN else None,
        "sought": sought,
        "tag": sought.tag or "",
        "after": after,
        "datasets": context_changes.public(session, owner, task),
        "many": queries.MANY,
        "weighted": sampling == "weighted",
        "tags": owner_lists.tags(session, task),
        "total": session.scalar(queries.context_count(task)),
        "imports": list(session.scalars(queries.imports(task, IMPORTS))),
        "fields": service.newest_config(session, task).context,
        "alone": archives.alone(service.newest_config(session, task)),
    }


async def show(
    request: Request, owner: Person, task: str, sought: Sought, after: str, status: int = 200, **more: Any
) -> Response:
    """The page of contexts."""
    db: Database = request.app.state.db
    said: dict[str, Any] = {"errors": {}, "deleted": None, "done": "", "changed": 0, "ids": []}
    values = said | await db.aread(read, owner, task, sought, after) | more
    return await frame.page(request, task, "datasets/manage/contexts.html", "contexts", status=status, **values)


@router.get("/tasks/{task}/manage/contexts", name="manage_contexts")
async def contexts(
    request: Request,
    task: str,
    owner: Owning,
    tag: Tag = None,
    q: Words = "",
    retired: Retired = "no",
    after: After = "",
    deleted: Deleted = None,
    done: Words = "",
    changed: Deleted = 0,
    ids: Annotated[str, Query(max_length=2000)] = "",
) -> Response:
    """Contexts, newest first, and a form for a file of more."""
    sought = Sought(q, tag or None, {"no": False, "yes": True, "any": None}[retired])
    said: dict[str, Any] = {
        "done": done,
        "changed": changed,
        "ids": [each for each in ids.split(",") if each.isdecimal()],
    }
    return await show(request, owner, task, sought, after, deleted=deleted, **said)


@router.get("/tasks/{task}/manage/contexts.csv", name="download_contexts")
async def download(request: Request, task: str, owner: Owning, tag: Tag = None) -> Response:
    """All contexts, or those with one tag, newest first: a file that can be sent to another task."""
    db: Database = request.app.state.db
    fields = [each.name for each in (await db.aread(service.newest_config, task)).context]
    rows = _rows(db, task, tag or None, fields)
    return csv_response(f"{task}-contexts.csv", [*fields, "tag", "examples", "fooled", "weight", "retired"], rows)


def _rows(db: Database, task: str, tag: str | None, fields: Sequence[str]) -> Iterator[list[object]]:
    after = ""
    while True:
        page = db.read(context_list.find, task, Sought(tag=tag, retired=None), after, 500)
        for each in page.items:
            values = [each.values.get(name, "") for name in fields]
            yield [*values, each.tag, each.used, each.fooled, each.weight, each.retired_at or ""]
        if page.next is None:
            return
        after = page.next


@router.post("/tasks/{task}/manage/contexts/files", name="send_contexts")
async def send(request: Request, task: str, owner: Owning) -> Response:
    """Keep the files and show what is in them."""
    settings = request.app.state.settings
    async with request.form(max_files=MOST_FILES) as form:
        sent = [each for each in form.getlist("file") if isinstance(each, UploadFile) and each.filename]
        try:
            id = await _kept(request, task, sent)
            path = waiting.find(settings, task, id)
            if path.suffix == archives.ENDING:
                await to_thread.run_sync(archives.rows, request.app.state.db, settings, task, owner.id, path)
            await to_thread.run_sync(imports.look, waiting.find(settings, task, id))
        except errors.Invalid as problem:
            return await show(request, owner, task, Sought(), "", status=422, errors=problem.fields)
    name = str(sent[0].filename)[:200] if len(sent) == 1 else f"{len(sent)} files"
    address = request.app.url_path_for("map_contexts", task=task, id=id)
    return RedirectResponse(f"{address}?{urlencode({'name': name})}", status_code=303)


async def _kept(request: Request, task: str, sent: Sequence[UploadFile]) -> UUID:
    """A table or a zip as it was sent; other files, or several, as a zip of them, where contexts have files."""
    settings = request.app.state.settings
    if not sent:
        raise errors.Invalid({"file": _("Choose a file first.")})
    config = await request.app.state.db.aread(service.newest_config, task)
    whole = str(sent[0].filename).lower().endswith((archives.ENDING, *archives.TABLES))
    media = any(isinstance(field, MediaField) for field in config.context)
    if media and (len(sent) > 1 or not whole):
        pairs = [(str(each.filename), each.file) for each in sent]
        return await to_thread.run_sync(archives.pack, settings, task, pairs)
    if len(sent) > 1:
        raise errors.Invalid({"file": _("Choose one file: the contexts of this task have no files of their own.")})
    return await waiting.keep(settings, task, str(sent[0].filename), sent[0], zipped=(archives.ENDING,))


@router.post("/tasks/{task}/manage/contexts/{id}/delete", name="discard_context")
async def delete(request: Request, task: str, id: RowId, owner: Owning) -> Response:
    """Remove a context that nobody was given yet."""
    await request.app.state.db.awrite(owner_lists.delete_context, owner, task, id)
    address = request.app.url_path_for("manage_contexts", task=task)
    return RedirectResponse(f"{address}?deleted={id}", status_code=303)
