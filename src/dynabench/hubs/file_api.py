"""The hub's API for files: lists, paths, commits, and the files themselves."""

from itertools import islice
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from sqlalchemy import update
from sqlalchemy.orm import Session
from starlette.responses import FileResponse, JSONResponse, Response

from dynabench.hubs import answers, reading
from dynabench.hubs.addresses import REPOSITORY_API, Place, RepositoryPlace, Rest, revision_and_path
from dynabench.hubs.file_store import HubFileStore
from dynabench.hubs.git_store import GitStore, TreeEntry
from dynabench.hubs.problems import EntryMissing
from dynabench.hubs.reading import FileFacts
from dynabench.hubs.service import HubEntry
from dynabench.hubs.tables import HubRepository
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Viewer, needs
from dynabench.people.accounts.tables import Person

router = APIRouter()
PAGE, EXPANDED_PAGE, MOST_PATHS = 1000, 50, 1000
COMMITS = 50
Cursor = Annotated[int, Query(ge=0, le=10**9)]


@router.get(f"{REPOSITORY_API}/tree/{{rest:path}}")
async def list_tree(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    viewer: Viewer,
    recursive: bool = False,
    expand: bool = False,
    cursor: Cursor = 0,
) -> JSONResponse:
    """List the files and folders of a folder at a revision."""
    revision, path = revision_and_path(request, rest, "tree")
    limit = EXPANDED_PAGE if expand else PAGE

    def read(session: Session) -> tuple[list[dict[str, Any]], bool, str]:
        entry, store, commit = place.find_revision(session, settings, viewer, revision)
        folder = store.find(commit, path.strip("/"))
        if folder is None or not folder.folder:
            raise EntryMissing(commit)
        items = list(islice(store.entries(folder, recursive), cursor, cursor + limit + 1))
        documents = _documents(session, store, entry, commit, items[:limit], expand)
        return documents, len(items) > limit, commit

    documents, more, commit = await db.aread(read)
    headers = {"X-Repo-Commit": commit} | (answers.next_link(request, cursor=cursor + limit) if more else {})
    return JSONResponse(documents, headers=headers)


def _documents(
    session: Session, store: GitStore, entry: HubEntry, commit: str, items: list[TreeEntry], expand: bool
) -> list[dict[str, Any]]:
    facts = reading.file_facts(session, store, entry, items)
    last = reading.last_commits(store, commit, [item.path for item in items]) if expand else {}
    return [answers.file_document(item, last.get(item.path)) for item in facts]


@router.post(f"{REPOSITORY_API}/paths-info/{{rest:path}}")
@needs("read")
async def read_paths(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    viewer: Viewer,
) -> JSONResponse:
    """Return those of some paths that are files or folders at a revision."""
    revision = revision_and_path(request, rest, "paths-info")[0]
    async with request.form(max_fields=MOST_PATHS + 10) as form:
        paths = [str(path).strip("/") for path in form.getlist("paths")][:MOST_PATHS]
        expand = str(form.get("expand", "")).lower() in ("true", "1")

    def read(session: Session) -> list[dict[str, Any]]:
        entry, store, commit = place.find_revision(session, settings, viewer, revision)
        items = [item for path in dict.fromkeys(paths) if path and (item := store.find(commit, path)) is not None]
        return _documents(session, store, entry, commit, items, expand)

    return JSONResponse(await db.aread(read))


@router.get(f"{REPOSITORY_API}/commits/{{rest:path}}")
async def list_commits(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    viewer: Viewer,
    p: Cursor = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = COMMITS,
    expand: Annotated[list[str], Query(alias="expand[]", max_length=5)] = [],  # noqa: B006
) -> JSONResponse:
    """List the commits of a revision, the newest first."""
    revision = revision_and_path(request, rest, "commits")[0]

    def read(session: Session) -> tuple[list[dict[str, Any]], bool]:
        _entry, store, commit = place.find_revision(session, settings, viewer, revision)
        commits = list(islice(store.history(commit), p * limit, (p + 1) * limit + 1))
        names = reading.author_names(session, commits)
        documents = [answers.commit_document(facts, names, "formatted" in expand) for facts in commits[:limit]]
        return documents, len(commits) > limit

    documents, more = await db.aread(read)
    return JSONResponse(documents, headers=answers.next_link(request, p=p + 1) if more else None)


@router.api_route("/{namespace}/{name}/resolve/{rest:path}", methods=["GET", "HEAD"])
@router.api_route("/{kinds}/{namespace}/{name}/resolve/{rest:path}", methods=["GET", "HEAD"])
async def send_file(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    viewer: Viewer,
) -> Response:
    """Send a file at a revision, whole or a range of it."""
    revision, path = revision_and_path(request, rest, "resolve")

    def read(session: Session) -> tuple[HubEntry, str, FileFacts]:
        return find_content(session, settings, viewer, place, revision, path)

    entry, commit, facts = await db.aread(read)
    if request.method == "GET" and "range" not in request.headers:
        await db.awrite(_count_download, entry.row.id)
    return await content_response(request, settings, entry, commit, facts)


def find_content(
    session: Session,
    settings: Settings,
    viewer: Person | None,
    place: RepositoryPlace,
    revision: str,
    path: str,
) -> tuple[HubEntry, str, FileFacts]:
    """Return the repository, the commit and the file of an address. Raises `EntryMissing` and its neighbours."""
    entry, store, commit = place.find_revision(session, settings, viewer, revision)
    facts = reading.find_file(session, store, entry, commit, path)
    if facts is None:
        raise EntryMissing(commit)
    return entry, commit, facts


def _count_download(session: Session, repository_id: int) -> None:
    row = HubRepository.id == repository_id
    session.execute(update(HubRepository).where(row).values(downloads=HubRepository.downloads + 1))


SAFE = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Content-Encoding": "identity",
    "Accept-Ranges": "bytes",
    "Cache-Control": "private, no-cache",
}
"""Headers of files that people sent: a browser saves them, and runs nothing of them."""


async def content_response(
    request: Request, settings: Settings, entry: HubEntry, commit: str, facts: FileFacts
) -> Response:
    """Return a file with the headers by which clients cache it: its commit, its name by content, its size."""
    headers = SAFE | {
        "X-Repo-Commit": commit,
        "ETag": f'"{facts.etag}"',
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(facts.name)}",
    }
    if facts.large is not None:
        headers |= {"X-Linked-Etag": f'"{facts.etag}"', "X-Linked-Size": str(facts.size)}
        path = HubFileStore.of(settings).path(facts.large.digest)
        if not path.exists():
            raise errors.NotFound(_("This file no longer exists."))
        return FileResponse(path, headers=headers, media_type="application/octet-stream")
    if request.headers.get("if-none-match") == headers["ETag"]:
        return Response(status_code=304, headers=headers)
    if request.method == "HEAD":
        headers["Content-Length"] = str(facts.size)
        return Response(headers=headers, media_type="application/octet-stream")
    content = GitStore.of(settings, entry.row.folder).blob(facts.entry.revision)
    return _ranged(request, content, headers)


def _ranged(request: Request, content: bytes, headers: dict[str, str]) -> Response:
    size = len(content)
    header = request.headers.get("range", "")
    unit, _equals, span = header.partition("=")
    if unit.strip() != "bytes" or "," in span or not span:
        return Response(content, headers=headers, media_type="application/octet-stream")
    first, dash, last = span.strip().partition("-")
    if not dash or not (first or last) or not (first or "0").isdigit() or not (last or "0").isdigit():
        return Response(content, headers=headers, media_type="application/octet-stream")
    start = int(first) if first else max(0, size - int(last))
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{size}"})
    headers |= {"Content-Range": f"bytes {start}-{end}/{size}"}
    part = content[start : end + 1]
    return Response(part, 206, headers=headers, media_type="application/octet-stream")
