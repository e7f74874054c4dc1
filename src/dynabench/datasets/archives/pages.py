"""Bringing in an archive, and how that goes."""

import uuid
from typing import Any
from uuid import UUID

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from starlette.datastructures import UploadFile
from starlette.responses import RedirectResponse, Response

from dynabench.datasets.archives import service
from dynabench.datasets.archives.api import told
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Member, limited
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import proposals, waiting
from dynabench.web import render

router = APIRouter(include_in_schema=False)
SELDOM = [Depends(limited("archive", 20, 3600))]


async def _page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    state = request.app.state
    found = await state.db.aread(service.brought, person)
    creates = state.settings.new_tasks == "free" or bool(may.may(person, Action.CREATE_TASK))
    known: dict[str, Any] = {
        "jobs": [await told(request, each) for each in found],
        "errors": {},
        "typed": "",
        "may": creates,
    }
    return render(request, "archives/archives.html", status=status, **(known | values))


@router.get("/archives", name="archives")
async def archives(request: Request, person: Member) -> Response:
    """A form for an archive, and what became of those before."""
    return await _page(request, person)


@router.post("/archives", name="send_archive_form", dependencies=SELDOM)
async def send(request: Request, person: Member) -> Response:
    """Keep the file and make a task of it in the background."""
    state = request.app.state
    mode: proposals.Mode = state.settings.new_tasks
    async with request.form() as form:
        file, id = form.get("file"), str(form.get("id", ""))[:100].strip()
        path = waiting.folder(state.settings) / f"{uuid.uuid4()}.zip"
        try:
            await state.db.aread(service.check_id, person, mode, id)
            if not isinstance(file, UploadFile) or not file.filename:
                raise errors.Invalid({"file": _("Choose a file first.")})
            await waiting.write(path, waiting.pieces(file))
            await to_thread.run_sync(service.look, path)
            job = await state.db.awrite(service.bring, person, mode, id, path, file.filename[-200:])
        except errors.Invalid as problem:
            path.unlink(missing_ok=True)
            return await _page(request, person, 422, errors=problem.fields, typed=id)
    return RedirectResponse(str(request.app.url_path_for("archive_job", job=job.id)), status_code=303)


@router.get("/archives/{job}", name="archive_job")
async def one(request: Request, job: UUID, person: Member) -> Response:
    """Show the progress of an archive job."""
    found = await request.app.state.db.aread(service.job_of, person, job)
    return render(request, "archives/archive.html", fragment="archives/_job.html", job=await told(request, found))
