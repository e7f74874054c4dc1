"""The contexts of a task: what there is, how often it was used, files to add more."""

from typing import Annotated, Any
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench import errors
from dynabench.console import frame, imports
from dynabench.console.access import Owning
from dynabench.db import Database
from dynabench.rounds import listing, mapping, queries, service, waiting
from dynabench.security import RowId

router = APIRouter()
router.include_router(imports.router)

SHOWN = 25
IMPORTS = 5  # latest imports that are listed

After = Annotated[str, Query(max_length=18)]
Tag = Annotated[str | None, Query(max_length=100)]


def read(session: Session, task: str, tag: str | None, after: str) -> dict[str, Any]:
    """A page of contexts with the tags there are and the latest imports."""
    found = listing.contexts(session, task, tag or None, after, SHOWN)
    return {
        "contexts": found.items,
        "next": found.next,
        "tag": tag or "",
        "after": after,
        "tags": listing.tags(session, task),
        "total": session.scalar(queries.context_count(task)),
        "imports": list(session.scalars(queries.imports(task, IMPORTS))),
        "fields": service.newest_config(session, task).context,
    }


async def show(request: Request, task: str, tag: str | None, after: str, status: int = 200, **more: Any) -> Response:
    """The page of contexts."""
    db: Database = request.app.state.db
    values = {"errors": {}} | await db.aread(read, task, tag, after) | more
    return await frame.page(request, task, "console/contexts.html", "contexts", status=status, **values)


@router.get("/tasks/{task}/manage/contexts", name="manage_contexts")
async def contexts(request: Request, task: str, owner: Owning, tag: Tag = None, after: After = "") -> Response:
    """Contexts, newest first, and a form for a file of more."""
    return await show(request, task, tag, after)


@router.post("/tasks/{task}/manage/contexts/files", name="send_contexts")
async def send(request: Request, task: str, owner: Owning) -> Response:
    """Keep the file and show what is in it."""
    settings = request.app.state.settings
    async with request.form() as form:
        file = form.get("file")
        try:
            if not isinstance(file, UploadFile) or not file.filename:
                raise errors.Invalid({"file": "Choose a file first."})
            id = await waiting.keep(settings, task, file.filename, file)
            await to_thread.run_sync(mapping.look, waiting.find(settings, task, id))
            name = file.filename[:200]
        except errors.Invalid as problem:
            return await show(request, task, None, "", status=422, errors=problem.fields)
    address = request.app.url_path_for("map_contexts", task=task, id=id)
    return RedirectResponse(f"{address}?{urlencode({'name': name})}", status_code=303)


@router.post("/tasks/{task}/manage/contexts/{id}/delete", name="discard_context")
async def delete(request: Request, task: str, id: RowId, owner: Owning) -> Response:
    """Remove a context that nobody was given yet."""
    await request.app.state.db.awrite(listing.delete_context, owner, task, id)
    return RedirectResponse(str(request.app.url_path_for("manage_contexts", task=task)), status_code=303)
