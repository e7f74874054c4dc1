"""The hub's API for changes: files are announced, large ones sent, and all of them committed."""

import asyncio
import base64
import binascii
from dataclasses import replace
from typing import Annotated, Any

from dulwich.ignore import IgnoreFilter
from fastapi import APIRouter, Depends, Path, Request
from sqlalchemy.orm import Session
from starlette.responses import FileResponse, JSONResponse, Response

from dynabench.hubs import answers, commits, queries, reading, service, uploads
from dynabench.hubs.addresses import REPOSITORY_API, Place, RepositoryPlace, Rest, revision_and_path
from dynabench.hubs.commits import MOST_REGULAR, CommitReader
from dynabench.hubs.file_api import SAFE
from dynabench.hubs.file_store import HubFileStore, LargeFile
from dynabench.hubs.git_store import GitStore
from dynabench.hubs.names import check_path
from dynabench.hubs.schemas import AnnouncedFile, FilesAnnouncementIn, LargeBatchIn
from dynabench.hubs.service import HubEntry
from dynabench.hubs.uploads import PART_BYTES, UploadPlan, UploadTicket
from dynabench.kit import errors
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.disk import require_disk_room
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer, limited, needs
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action

router = APIRouter()
CHANGES = Depends(limited("hub commits", 300, 60))
MOST_BINARY = 1024 * 1024
"""Bytes from which on a file that is no text is a large file."""
Ticket = Annotated[str, Path(max_length=1000)]
LFS_TYPE = "application/vnd.git-lfs+json"


@router.post(f"{REPOSITORY_API}/preupload/{{rest:path}}", dependencies=[CHANGES])
async def announce_files(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    body: FilesAnnouncementIn,
    person: Member,
    create_pr: bool = False,
) -> JSONResponse:
    """Say how announced files are sent: within the commit, or as large files before it."""
    revision = revision_and_path(request, rest, "preupload")[0]
    announced = sum(file.size for file in body.files)

    def read(session: Session) -> list[dict[str, Any]]:
        entry = place.find_writable(session, person, revision, create_pr)
        commit = service.resolve_revision(session, settings, entry, revision)
        service.require_room(session, settings, person.id, announced)
        require_disk_room(settings, 2 * announced)  # by Xet, chunks and the file made of them are there at once
        store = GitStore.of(settings, entry.row.folder)
        ignored = _ignore_filter(store, commit, body.gitIgnore)
        return [_mode(session, store, entry, commit, file, ignored) for file in body.files]

    return JSONResponse({"files": await db.aread(read), "commitOid": "", "uploadModes": []})


def _ignore_filter(store: GitStore, commit: str, text: str | None) -> IgnoreFilter:
    if text is None:
        item = store.find(commit, ".gitignore")
        small = item is not None and not item.folder and store.blob_head(item.revision).size < 64 * 1024
        text = store.blob(item.revision).decode("utf-8", "replace") if item is not None and small else ""
    return IgnoreFilter([line.encode() for line in text.splitlines()[:1000]])


def _mode(
    session: Session, store: GitStore, entry: HubEntry, commit: str, file: AnnouncedFile, ignored: IgnoreFilter
) -> dict[str, Any]:
    path = check_path(file.path)
    present = reading.find_file(session, store, entry, commit, path)
    document: dict[str, Any] = {
        "path": path,
        "uploadMode": "lfs" if _is_large(file) else "regular",
        "shouldIgnore": bool(ignored.is_ignored(path.encode())),
    }
    return document | ({"oid": present.etag} if present else {})


def _is_large(file: AnnouncedFile) -> bool:
    if file.path.rpartition(".")[2].lower() in service.LARGE_ENDINGS:
        return True
    try:
        binary = b"\0" in base64.b64decode(file.sample)
    except (binascii.Error, ValueError):
        binary = True
    return file.size > (MOST_BINARY if binary else MOST_REGULAR)


@router.post(f"{REPOSITORY_API}/commit/{{rest:path}}", dependencies=[CHANGES])
async def commit(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    rest: Rest,
    person: Member,
    create_pr: bool = False,
) -> JSONResponse:
    """Commit operations to a branch, or as a pull request. The body has one operation in each line."""
    revision = revision_and_path(request, rest, "commit")[0]
    entry = await db.aread(place.find_writable, person, revision, create_pr)
    reader = CommitReader(GitStore.of(settings, entry.row.folder))
    async for part in request.stream():
        await asyncio.to_thread(reader.feed, part)
    sent = await asyncio.to_thread(reader.end)
    outcome = await asyncio.to_thread(
        commits.commit_changes, db, settings, person, entry, revision, sent, proposes=create_pr
    )
    address = answers.repository_address(request, entry)
    document = {
        "success": True,
        "commitOid": outcome.revision,
        "commitUrl": f"{address}/commit/{outcome.revision}",
        "hookOutput": "",
    }
    if outcome.number:
        document["pullRequestUrl"] = f"{address}/discussions/{outcome.number}"
    return JSONResponse(document)


@router.post("/{namespace}/{name}.git/info/lfs/objects/batch", dependencies=[CHANGES])
@router.post("/{kinds}/{namespace}/{name}.git/info/lfs/objects/batch", dependencies=[CHANGES])
@needs("read")
async def plan_batch(
    request: Request,
    db: Db,
    settings: AppSettings,
    place: Place,
    body: LargeBatchIn,
    viewer: Viewer,
) -> JSONResponse:
    """Say where large files are sent or read, as Git LFS does."""
    if body.hash_algo != "sha256":
        raise errors.Invalid({"hash_algo": _("Large files are named by their SHA-256.")})
    files = [LargeFile(item.oid, item.size) for item in body.objects]
    if body.operation == "download":
        documents = await _downloads(request, db, settings, viewer, place, files)
        return JSONResponse({"transfer": "basic", "objects": documents}, media_type=LFS_TYPE)
    if viewer is None:
        raise errors.Unauthenticated(_("Log in, or send an API token in the Authorization header."))
    person, scopes = viewer, request.state.scopes
    if scopes is not None and "annotate" not in scopes:
        raise errors.Forbidden(_("This token may only read."))

    def read(session: Session) -> list[UploadPlan]:
        entry = place.find(session, person)
        may.refuse_unless(may.may(person, Action.PROPOSE_CHANGE))
        return uploads.plan_uploads(session, settings, person, entry, files)

    plans = await db.aread(read)
    several = "multipart" in body.transfers
    documents = [_upload_document(request, settings, plan, several) for plan in plans]
    transfer = "multipart" if several and any(plan.part_tickets for plan in plans) else "basic"
    return JSONResponse({"transfer": transfer, "objects": documents}, media_type=LFS_TYPE)


def _upload_document(request: Request, settings: AppSettings, plan: UploadPlan, several: bool) -> dict[str, Any]:
    document: dict[str, Any] = {"oid": plan.file.digest, "size": plan.file.size, "authenticated": True}
    if plan.refusal:
        return document | {"error": {"code": 422, "message": plan.refusal}}
    if plan.ticket is None:
        return document
    address = f"{answers.hub_address(request)}/uploads"
    parts = plan.part_tickets
    if parts and not several:
        return document | {"error": {"code": 422, "message": _("Send this file in several parts.")}}
    signed = plan.ticket.sign(settings)
    upload: dict[str, Any] = {"href": f"{address}/{signed}"}
    if parts:
        header = {str(part.part): f"{address}/{part.sign(settings)}" for part in parts}
        upload = {"href": f"{address}/{signed}/complete", "header": header | {"chunk_size": str(PART_BYTES)}}
    return document | {"actions": {"upload": upload, "verify": {"href": f"{address}/{signed}/verify"}}}


async def _downloads(
    request: Request,
    db: Db,
    settings: AppSettings,
    viewer: Person | None,
    place: RepositoryPlace,
    files: list[LargeFile],
) -> list[dict[str, Any]]:
    def read(session: Session) -> tuple[HubEntry, dict[str, int]]:
        entry = place.find(session, viewer)
        used = session.execute(queries.used_files(entry.row.id, [file.digest for file in files])).all()
        return entry, dict(used)

    entry, sizes = await db.aread(read)
    until = uploads.new_end()
    documents: list[dict[str, Any]] = []
    for file in files:
        document: dict[str, Any] = {"oid": file.digest, "size": sizes.get(file.digest, file.size)}
        if file.digest in sizes:
            person = viewer.id if viewer else 0
            ticket = UploadTicket("download", entry.row.id, person, file.digest, sizes[file.digest], until)
            href = f"{answers.hub_address(request)}/files/{ticket.sign(settings)}"
            document["actions"] = {"download": {"href": href, "expires_in": uploads.TICKET_SECONDS}}
        else:
            document["error"] = {"code": 404, "message": _("This repository has no such large file.")}
        documents.append(document)
    return documents


@router.get("/files/{ticket}")
async def send_large_file(settings: AppSettings, ticket: Ticket) -> Response:
    """Send a large file to the holder of a signed address."""
    permission = uploads.read_ticket(settings, ticket, "download")
    path = HubFileStore.of(settings).path(permission.digest)
    if not path.exists():
        raise errors.NotFound(_("This file no longer exists."))
    headers = SAFE | {"ETag": f'"{permission.digest}"', "Content-Disposition": "attachment"}
    return FileResponse(path, headers=headers, media_type="application/octet-stream")


@router.put("/uploads/{ticket}")
async def receive_file(request: Request, db: Db, settings: AppSettings, ticket: Ticket) -> Response:
    """Receive a large file, or a part of one, from the holder of a signed address."""
    permission = uploads.read_ticket(settings, ticket, "upload")
    request.state.viewer = await db.aread(lambda session: session.get(Person, permission.person))
    incoming = uploads.receive(settings, permission)
    try:
        async for part in request.stream():
            if incoming.size + len(part) > permission.expected:
                raise errors.TooLarge(_("This is more than was announced. Nothing was saved."))
            await asyncio.to_thread(incoming.add, part)
        if permission.part:
            digest = await asyncio.to_thread(uploads.keep_part, settings, permission, incoming)
        else:
            await asyncio.to_thread(uploads.keep_file, db, settings, permission, incoming)
            digest = permission.digest
    except BaseException:
        incoming.discard()
        raise
    return Response(headers={"ETag": f'"{digest}"'})


@router.post("/uploads/{ticket}/complete")
async def complete_upload(db: Db, settings: AppSettings, ticket: Ticket) -> JSONResponse:
    """Put the parts of a large file together."""
    permission = uploads.read_ticket(settings, ticket, "upload")
    await asyncio.to_thread(uploads.complete_parts, db, settings, replace(permission, part=0))
    return JSONResponse({"success": True})


@router.post("/uploads/{ticket}/verify")
async def verify_upload(db: Db, settings: AppSettings, ticket: Ticket) -> JSONResponse:
    """Tell whether a large file has arrived."""
    permission = uploads.read_ticket(settings, ticket, "upload")
    file = LargeFile(permission.digest, permission.size)
    if not await db.aread(uploads.is_uploaded, permission.repository, permission.person, file):
        raise errors.Invalid({"oid": _("This file has not arrived. Send it again.")})
    return JSONResponse({})
