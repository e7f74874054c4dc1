"""Stored files over HTTP: to those who may see them, as what they are, and never as a page."""

import re
from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import FileResponse, Response

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.media.facts import ENDINGS
from dynabench.media.store import MediaStore
from dynabench.people.accounts.auth import Viewer
from dynabench.validation import media

router = APIRouter()

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, max-age=31536000, immutable",
    "Content-Encoding": "identity",  # compressed already, and read in ranges
}


@router.get(
    "/media/{digest}",
    name="media",
    response_class=Response,
    responses={200: {"description": "The file.", "content": {"application/octet-stream": {}}}},
)
async def read_media(
    request: Request, digest: Annotated[str, Path(pattern="^[0-9a-f]{64}$")], viewer: Viewer
) -> Response:
    """A picture, a sound or a file, for whoever may see a context or an example that shows it; also in ranges."""
    state = request.app.state
    db: Database = state.db
    seen = await db.aread(media.find, viewer, digest)
    path = MediaStore.of(state.settings).path(digest)
    if not path.is_file():
        raise errors.NotFound(media.NONE)
    stem = re.sub(r"[^\w -]", "_", seen.name.rpartition(".")[0])[:80] or digest[:16]
    shown = "attachment" if seen.kind == "file" else "inline"
    return FileResponse(
        path,
        headers=HEADERS,
        media_type=seen.type,
        filename=f"{stem}.{ENDINGS[seen.type]}",
        content_disposition_type=shown,
    )
