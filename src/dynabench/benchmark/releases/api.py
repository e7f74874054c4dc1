"""Releases as JSON: previewed, asked for, read; and their files."""

import zipfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Request
from sqlalchemy.orm import Session
from starlette.responses import FileResponse, Response

from dynabench.benchmark.releases import manifest, planning, service, views
from dynabench.benchmark.releases.tables import Release
from dynabench.benchmark.releases.views import ReleaseIn, ReleaseOut, ReleasePage, ReleasePreviewOut, RulesIn
from dynabench.datasets.downloads import Download
from dynabench.datasets.formats import ZipSink, zip_entry
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member, Viewer, limited, scope
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds
from dynabench.rounds.schemas import Number

router = APIRouter(prefix="/api/v1", tags=["releases"], dependencies=[Depends(scope("manage"))])
PATH = "/tasks/{task}/rounds/{n}/release"
release_limit = limited("release", 30, 60)
PREVIEW = [Depends(release_limit)]
FILES = [Depends(limited("export", 60, 60))]
TYPES = {".parquet": "application/vnd.apache.parquet", ".jsonl": "application/x-ndjson", ".md": "text/markdown"}
PIECE = 1024**2


def platform_address(request: Request) -> str:
    """Return the platform's public address: the configured one, else that of the request."""
    return request.app.state.settings.public_url or str(request.base_url)


@router.get("/tasks/{task}/releases")
async def list_releases(request: Request, task: str) -> ReleasePage:
    """The releases of a task, newest round first, all on one page; without the gaps of models."""
    state = request.app.state
    return await state.db.aread(views.release_page, platform_address(request), task)  # type: ignore[no-any-return]


@router.get(PATH)
async def read_release(request: Request, task: str, n: Number, viewer: Viewer) -> ReleaseOut:
    """A round's release: its files with their digests, how it was divided, and models' gaps between its parts to test
    on. Before it is ready it is there for the task's owners alone."""
    state = request.app.state
    return await state.db.aread(views.release_with_gaps, state.settings, platform_address(request), viewer, task, n)  # type: ignore[no-any-return]


def rule_changes(body: RulesIn) -> dict[str, Any]:
    """Return the rules that the body sets, by name."""
    values = body.model_dump(exclude={"anyway"})
    return {name: value for name, value in values.items() if value is not None}


async def preview_out(
    request: Request, person: Person, task: str, n: int, changed: dict[str, Any]
) -> ReleasePreviewOut:
    """Return the division that the round would get (owners); nothing is written."""
    state = request.app.state
    db: Database = state.db

    def read(session: Session) -> Any:
        rounds.require(session, person, Action.RELEASE_ROUND, task)
        return service.release_rules(session, task, n, changed)

    rules = await db.aread(read)
    plan = await to_thread.run_sync(planning.plan_release, db, state.settings, task, n, rules)
    return ReleasePreviewOut(task=task, round=n, rules=rules.model_dump(mode="json"), report=plan.report)


@router.post(PATH + "/preview", dependencies=PREVIEW)
async def preview_release(request: Request, task: str, n: Number, body: RulesIn, person: Member) -> ReleasePreviewOut:
    """Preview a release: its parts, and the findings to fix first (owners); nothing is written."""
    return await preview_out(request, person, task, n, rule_changes(body))


async def start_release(
    request: Request, person: Person, task: str, n: int, changed: dict[str, Any], anyway: bool
) -> Release:
    """Start a release in the background."""

    def make(session: Session) -> Release:
        rounds.require(session, person, Action.RELEASE_ROUND, task)
        return service.start_release(session, person, task, n, service.release_rules(session, task, n, changed), anyway)

    return await request.app.state.db.awrite(make)  # type: ignore[no-any-return]


@router.post(PATH, status_code=202, dependencies=PREVIEW)
async def release_round(request: Request, task: str, n: Number, body: ReleaseIn, person: Member) -> ReleaseOut:
    """Release a closed round for good, in the background (owners): its data never change again, every model of the
    task is scored on its two parts to test on."""
    await start_release(request, person, task, n, rule_changes(body), body.anyway)
    state = request.app.state
    return await state.db.aread(views.release_with_gaps, state.settings, platform_address(request), person, task, n)  # type: ignore[no-any-return]


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
    release: Release = await state.db.aread(views.downloadable_release, viewer, task, n)
    names = {file["path"] for file in release.manifest["files"]} | {manifest.MANIFEST_NAME}
    if path not in names:
        raise errors.NotFound(_("The release has no such file."))
    location = service.release_folder(state.settings, release.id) / path
    headers = {"X-Release-Digest": release.digest, "Content-Encoding": "identity"}
    kind = TYPES.get(location.suffix, "application/octet-stream")
    return FileResponse(location, media_type=kind, filename=location.name, headers=headers)


@router.get(
    PATH + "/zip",
    dependencies=FILES,
    response_class=Response,
    responses={200: {"description": "All files in a folder.", "content": {"application/zip": {}}}},
)
async def fetch_release(request: Request, task: str, n: Number, viewer: Viewer) -> Response:
    """All files of the release as a zip file, which is the same each time."""
    state = request.app.state
    release: Release = await state.db.aread(views.downloadable_release, viewer, task, n)
    name = f"{task}-round-{n}"
    names = [*(file["path"] for file in release.manifest["files"]), manifest.MANIFEST_NAME]
    headers = {"Content-Disposition": f'attachment; filename="{name}.zip"', "Content-Encoding": "identity"}
    parts = _zipped(service.release_folder(state.settings, release.id), name, names)
    return Download(parts, media_type="application/zip", headers=headers)


def _zipped(folder: Path, name: str, names: list[str]) -> Generator[bytes, None, None]:
    sink = ZipSink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as zipped:  # type: ignore[call-overload]
        for path in names:
            member = zip_entry(f"{name}/{path}")
            member.compress_type = zipfile.ZIP_STORED
            with (folder / path).open("rb") as file, zipped.open(member, "w", force_zip64=True) as out:
                while part := file.read(PIECE):
                    out.write(part)
                    yield sink.take()
    yield sink.take()
