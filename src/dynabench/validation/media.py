"""The right to see a stored file: only people who may see a context or example that shows it have it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Request
from sqlalchemy import select
from sqlalchemy.orm import Session
from starlette.responses import FileResponse, Response

from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.media import service
from dynabench.media.file_formats import ENDINGS
from dynabench.media.store import MediaStore
from dynabench.media.tables import Media, MediaUpload, MediaUse
from dynabench.people import disclosure, may
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState
from dynabench.stats.verdict import Verdict
from dynabench.validation.controls.queries import shown_as_control
from dynabench.validation.places import REMEMBER
from dynabench.validation.queries import votes
from dynabench.validation.tables import Reservation

NONE = _("There is no file here that you can see.")


@dataclass(frozen=True)
class VisibleFile:
    """A file that a person may see, and what it is called where they sent it."""

    digest: str
    kind: str
    type: str
    name: str


def find(session: Session, viewer: Person | None, digest: str) -> VisibleFile:
    """The file, for those who may see it; `NotFound` for everybody else, and `Unauthenticated` for visitors.

    What a context shows is for those who may write or check for its task. What an example shows is for its author, for
    those who check it, for the task's owners and moderators, and once it is shown in public for everybody. Of one that
    was taken back nothing leaves, of a hidden one only to owners and moderators. A person who sent the file sees it
    until they write an example with it, also when another person's example shows the same file.
    """
    media = session.get(Media, digest)
    if media is not None:
        uses = session.scalars(service.media_uses(digest)).all()
        upload = session.scalar(service.latest_upload(digest, viewer.id)) if viewer else None
        if any(_shows(session, viewer, use) for use in uses) or (upload and not _used_since(session, upload, uses)):
            return VisibleFile(digest, media.kind, media.type, upload.name if upload else "")
    if viewer is None:  # whether there is such a file or not
        raise errors.Unauthenticated(_("Log in to see this file."))
    raise errors.NotFound(NONE)


def _used_since(session: Session, upload: MediaUpload, uses: Sequence[MediaUse]) -> bool:
    """Return whether the sender has written an example with the file since the upload."""
    ids = [use.example_id for use in uses if use.example_id is not None]
    own = (Example.id.in_(ids), Example.author_id == upload.person_id, Example.at >= upload.at)
    return bool(ids) and session.scalar(select(Example.id).where(*own).limit(1)) is not None


def _shows(session: Session, viewer: Person | None, use: MediaUse) -> bool:
    if use.example_id is not None:
        return _example(session, viewer, use.task_id, use.example_id)
    try:
        people.require_seat(session, viewer, use.task_id)
    except (errors.Forbidden, errors.Unauthenticated):
        return _looks_after(session, viewer, use.task_id)
    return True


def _looks_after(session: Session, viewer: Person | None, task_id: str) -> bool:
    return bool(may.may_in(session, viewer, Action.MODERATE, task_id))


def _example(session: Session, viewer: Person | None, task_id: str, example_id: int) -> bool:
    standing = session.get(Standing, example_id)
    if standing is None or standing.retracted:
        return False
    if disclosure.is_withheld(standing):
        return _involved(session, viewer, standing)
    if _looks_after(session, viewer, task_id):
        return True
    if standing.hidden:
        return False
    return _involved(session, viewer, standing) or _public(session, viewer, task_id, standing)


def _involved(session: Session, viewer: Person | None, standing: Standing) -> bool:
    if viewer is None:
        return False
    if standing.author_id == viewer.id:
        return True
    place = session.get(Reservation, (standing.example_id, viewer.id))
    if place is not None and place.expires_at > now() - REMEMBER:  # a page may be open for longer than its place
        return True
    if any(cast.person_id == viewer.id for cast in session.scalars(votes(standing.example_id))):
        return True
    return session.scalar(shown_as_control(standing.example_id, viewer.id)) is not None


def _public(session: Session, viewer: Person | None, task_id: str, standing: Standing) -> bool:
    """Return whether pages or exports show the example to everybody.

    They show verified examples that fooled a model, and the examples of released rounds.
    """
    if viewer is None and rounds.task_config(session, task_id).content_warning:
        return False
    if standing.fooled and standing.verdict == Verdict.CORRECT:
        return True
    return session.get_one(Round, standing.round_id).state == RoundState.RELEASED


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
    """A picture, a sound or a file, for those who may see a context or an example that shows it; also in ranges."""
    state = request.app.state
    db: Database = state.db
    seen = await db.aread(find, viewer, digest)
    path = MediaStore.of(state.settings).path(digest)
    if not path.is_file():
        raise errors.NotFound(NONE)
    stem = re.sub(r"[^\w -]", "_", seen.name.rpartition(".")[0])[:80] or digest[:16]
    disposition = "attachment" if seen.kind == "file" else "inline"
    return FileResponse(
        path,
        headers=HEADERS,
        media_type=seen.type,
        filename=f"{stem}.{ENDINGS[seen.type]}",
        content_disposition_type=disposition,
    )
