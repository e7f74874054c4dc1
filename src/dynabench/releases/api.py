"""Releases as JSON: previewed, asked for, read; and their files."""

import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import FileResponse, Response

from dynabench import errors
from dynabench.accounts.auth import Member, Viewer, limited, scope
from dynabench.accounts.tables import Person
from dynabench.datasets.downloads import Download
from dynabench.datasets.with_files import Sink, entry
from dynabench.db import Database
from dynabench.language import _
from dynabench.people.may import Action
from dynabench.releases import manifest, planning, service, views
from dynabench.releases.schemas import ReleaseIn, ReleaseOut, ReleasePage, ReleasePreviewOut, RulesIn
from dynabench.releases.tables import Release
from dynabench.rounds import service as rounds
from dynabench.rounds.schemas import Number

router = APIRouter(prefix="/api/v1", tags=["releases"], dependencies=[Depends(scope("manage"))])
PATH = "/tasks/{task}/rounds/{n}/release"
limit = limited("release", 30, 60)
PREVIEW = [Depends(limit)]
FILES = [Depends(limited("export", 60, 60))]
TYPES = {".parquet": "application/vnd.apache.parquet", ".jsonl": "application/x-ndjson", ".md": "text/markdown"}
PIECE = 1024**2


def address(request: Request) -> str:
    """Where the platform is found: as its operator says, else as it was asked."""
    return request.app.state.settings.public_url or str(request.base_url)


@router.get("/tasks/{task}/releases")
async def list_releases(request: Request, task: str) -> ReleasePage:
    """The releases of a task, newest round first, all on one page; without the gaps of models."""
    state = request.app.state
    return await state.db.aread(views.page, address(request), task)  # type: ignore[no-any-return]


@router.get(PATH)
async def read_release(request: Request, task: str, n: Number, viewer: Viewer) -> ReleaseOut:
    """A round's release: its files with their digests, how it was divided, and models' gaps between its parts to test
    on. Before it is ready it is there for the task's owners alone."""
    state = request.app.state
    return await state.db.aread(views.one, state.settings, address(request), viewer, task, n)  # type: ignore[no-any-return]


def changes(body: RulesIn) -> dict[str, Any]:
    """What a body changes of the config's rules."""
    given = body.model_dump(exclude={"anyway"})
    return {name: value for name, value in given.items() if value is not None}


async def preview(request: Request, person: Person, task: str, n: int, changed: dict[str, Any]) -> ReleasePreviewOut:
    """How a round would be divided (owners); nothing is written."""
    state = request.app.state
    db: Database = state.db

    def read(session: Session) -> Any:
        rounds.require(session, person, Action.RELEASE_ROUND, task)
        return service.rules_of(session, task, n, changed)

    rules = await db.aread(read)
    plan = await to_thread.run_sync(planning.plan, db, state.settings, task, n, rules)
    return ReleasePreviewOut(task=task, round=n, rules=rules.model_dump(mode="json"), report=plan.report)


@router.post(PATH + "/preview", dependencies=PREVIEW)
async def preview_release(request: Request, task: str, n: Number, body: RulesIn, person: Member) -> ReleasePreviewOut:
    """What a release would hold, and what should be mended before (owners); nothing is written."""
    return await preview(request, person, task, n, changes(body))


async def begin(request: Request, person: Person, task: str, n: int, changed: dict[str, Any], anyway: bool) -> Release:
    """Ask for a release."""

    def make(session: Session) -> Release:
        rounds.require(session, person, Action.RELEASE_ROUND, task)
        return service.start(session, person, task, n, service.rules_of(session, task, n, changed), anyway)

    return await request.app.state.db.awrite(make)  # type: ignore[no-any-return]


@router.post(PATH, status_code=202, dependencies=PREVIEW)
async def release_round(request: Request, task: str, n: Number, body: ReleaseIn, person: Member) -> ReleaseOut:
    """Release a closed round for good, in the background (owners): its data never change again, every model of the
    task is scored on its two parts to test on."""
    await begin(request, person, task, n, changes(body), body.anyway)
    state = request.app.state
    return await state.db.aread(views.one, state.settings, address(request), person, task, n)  # type: ignore[no-any-return]


@router.get(PATH + "/files/{file}", dependencies=FILES, response_class=FileResponse)
async def fetch_release_file(request: Request, task: str, n: Number, file: str, viewer: Viewer) -> FileResponse:
    """A file of the release, such as its card, `README.md`."""
    return await _file(request, task, n, file, viewer)


@router.get(PATH + "/files/{folder}/{file}", dependencies=FILES, response_class=FileResponse)
async def fetch_release_data(
    request: Request, task: str, n: Number, folder: str, file: str, viewer: Viewer
) -> FileResponse:
    """A file of the release in one of its folders, such as `data/test.jsonl`."""
    return await _file(request, task, n, f"{folder}/{file}", viewer)


async def _file(request: Request, task: str, n: int, path: str, viewer: Person | None) -> FileResponse:
    state = request.app.state
    found: Release = await state.db.aread(views.readable, viewer, task, n)
    names = {each["path"] for each in found.manifest["files"]} | {manifest.NAME}
    if path not in names:
        raise errors.NotFound(_("The release has no such file."))
    place = service.folder(state.settings, found.id) / path
    headers = {"X-Release-Digest": found.digest, "Content-Encoding": "identity"}
    kind = TYPES.get(place.suffix, "application/octet-stream")
    return FileResponse(place, media_type=kind, filename=place.name, headers=headers)


@router.get(
    PATH + "/zip",
    dependencies=FILES,
    response_class=Response,
    responses={200: {"description": "All files in a folder.", "content": {"application/zip": {}}}},
)
async def fetch_release(request: Request, task: str, n: Number, viewer: Viewer) -> Response:
    """All files of the release as a zip file, which is the same each time."""
    state = request.app.state
    found: Release = await state.db.aread(views.readable, viewer, task, n)
    name = f"{task}-round-{n}"
    names = [*(each["path"] for each in found.manifest["files"]), manifest.NAME]
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"', "Content-Encoding": "identity"}
    parts = _zipped(service.folder(state.settings, found.id), name, names)
    return Download(parts, media_type="application/zip", headers=headers)


def _zipped(folder: Path, name: str, names: list[str]) -> Generator[bytes, None, None]:
    sink = Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as made:  # type: ignore[call-overload]
        for path in names:
            of = entry(f"{name}/{path}")
            of.compress_type = zipfile.ZIP_STORED
            with (folder / path).open("rb") as file, made.open(of, "w", force_zip64=True) as out:
                while part := file.read(PIECE):
                    out.write(part)
                    yield sink.take()
    yield sink.take()
