"""The pages of the documentation."""

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import FileResponse, RedirectResponse, Response

from dynabench.kit.errors import NotFound, Unavailable
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer
from dynabench.site.documentation import api_reference, documents
from dynabench.site.process_routes import Description
from dynabench.web import render

router = APIRouter(include_in_schema=False)
PATIENCE = 3  # seconds
NO_SUCH_DOCUMENT = _("The documentation has no such page.")


async def _reference(request: Request) -> api_reference.Reference:
    """The reference; the first reader, while its document is being made, is asked to wait."""
    description: Description = request.app.state.description
    try:
        document = await asyncio.wait_for(description.document(), PATIENCE)
    except TimeoutError:
        raise Unavailable(_("The reference is being prepared.")) from None
    return await run_in_threadpool(api_reference.read_reference, document)


@router.get("/docs/api", name="api_reference")
async def api_overview(request: Request, viewer: Viewer) -> Response:
    """Every operation of the JSON API, by subject."""
    reference = await _reference(request)
    navigation = documents.navigation()
    return render(request, "documentation/api.html", reference=reference, navigation=navigation, current="api")


@router.get("/docs/api/{tag}", name="api_subject")
async def api_subject(request: Request, tag: str, viewer: Viewer) -> Response:
    """The operations of one subject."""
    return render(request, "documentation/subject.html", **await _subject_values(request, tag))


@router.get("/docs/api/{tag}/{anchor}", name="api_operation")
async def api_operation(request: Request, tag: str, anchor: str, viewer: Viewer) -> Response:
    """One operation with a command that calls it, its parameters, body and answers; for htmx these alone."""
    values = await _subject_values(request, tag)
    operations = values["subject"].operations
    operation = next((operation for operation in operations if operation.anchor == anchor), None)
    if operation is None:
        raise NotFound(NO_SUCH_DOCUMENT)
    values |= {"operation": operation, "origin": str(request.base_url).rstrip("/")}
    return render(request, "documentation/operation.html", fragment="documentation/_operation.html", **values)


async def _subject_values(request: Request, tag: str) -> dict[str, Any]:
    reference = await _reference(request)
    subject = next((subject for subject in reference.subjects if subject.name == tag), None)
    if subject is None:
        raise NotFound(NO_SUCH_DOCUMENT)
    return {"reference": reference, "subject": subject, "navigation": documents.navigation(), "current": "api"}


@router.get("/docs", name="documentation")
@router.get("/docs/{name:path}", name="document")
async def document_page(request: Request, viewer: Viewer, name: str = "") -> Response:
    """A page of the documentation or one of its pictures."""
    pages = await run_in_threadpool(documents.documents)
    if page := pages.get(name):
        before, after = documents.neighbours(name)
        values: dict[str, Any] = {"page": page, "navigation": documents.navigation(), "current": name}
        return render(request, "documentation/page.html", **values, before=before, after=after)
    if picture := documents.picture(name):
        place, kind = picture
        return FileResponse(place, media_type=kind, headers={"Cache-Control": "public, max-age=3600"})
    plain = name.removesuffix("/").removesuffix(".md").removesuffix("/index").removesuffix("index")
    if f"{plain}.md" in documents.GENERATED:
        return RedirectResponse(documents.GENERATED[f"{plain}.md"], 308)
    if plain != name and plain in pages:
        return RedirectResponse(documents.address_of(plain), 308)
    raise NotFound(NO_SUCH_DOCUMENT)
