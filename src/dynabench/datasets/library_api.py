"""Datasets as JSON: the list, one, its rows, and what owners do with them."""

from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.datasets import from_rounds, library, library_files, waiting
from dynabench.datasets import library_views as views
from dynabench.datasets.downloads import Download
from dynabench.datasets.intake import service
from dynabench.datasets.library_schemas import Change, DatasetFull, DatasetIn, DatasetPage, FileIn, SampleOut, VersionIn
from dynabench.intake import sources
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.people.may import Action
from dynabench.rounds import owner_lists, uploads
from dynabench.rounds import schemas as round_schemas
from dynabench.rounds import service as rounds
from dynabench.rounds.owner_api import After, Limit
from dynabench.tasks import TaskConfig

router = APIRouter()  # `datasets.api` includes it, with its prefix, tag and scope
Words = Annotated[str, Query(max_length=100)]
Cursor = Annotated[str, Query(max_length=130, description="The `next` of the page before.")]
Format = Literal["jsonl", "csv", "parquet"]
PATH = "/tasks/{task}/datasets/{name}"


def config_for(session: Session, person: Member, task: str) -> TaskConfig:
    """The newest config, for the task's owners."""
    rounds.require(session, person, Action.MANAGE_DATASETS, task)
    return rounds.newest_config(session, task)


@router.get("/datasets")
async def list_all(
    request: Request, viewer: Viewer, q: Words = "", task: Words = "", after: Cursor = "", limit: Limit = 50
) -> DatasetPage:
    """A page of the datasets of all tasks that you may see."""
    return await request.app.state.db.aread(views.page, viewer, task, q, after, limit)  # type: ignore[no-any-return]


@router.get("/tasks/{task}/datasets")
async def list_of_task(
    request: Request, task: str, viewer: Viewer, q: Words = "", after: Cursor = "", limit: Limit = 50
) -> DatasetPage:
    """A page of the datasets of a task that you may see."""
    return await request.app.state.db.aread(views.page, viewer, task, q, after, limit)  # type: ignore[no-any-return]


@router.post("/tasks/{task}/datasets/files", status_code=201, openapi_extra=uploads.RAW)
async def send_dataset_file(
    request: Request,
    task: str,
    person: Member,
    name: Annotated[str, Query(max_length=200, description="The file's name; its ending tells what it is.")],
) -> SampleOut:
    """Send a file as the body (owners): JSONL, CSV, TSV, JSON, Parquet, or a zipped folder of a dataset; `.gz` of
    these. It waits for its start, for a day."""
    db: Database = request.app.state.db
    config = await db.aread(config_for, person, task)
    path = await waiting.keep(request.app.state.settings, task, name, request.stream(), sources.kind_of_source)
    try:
        return await to_thread.run_sync(service.sample, path, config)
    except errors.Problem:
        path.unlink(missing_ok=True)
        raise


@router.post("/tasks/{task}/datasets/preview")
async def preview_dataset_file(request: Request, task: str, body: FileIn, person: Member) -> SampleOut:
    """The first rows of a file that waits, under a layout (owners)."""
    config = await request.app.state.db.aread(config_for, person, task)
    path = waiting.find(request.app.state.settings, task, body.file)
    return await to_thread.run_sync(service.sample, path, config, body.layout)


@router.post("/tasks/{task}/datasets", status_code=202)
async def add_dataset(request: Request, task: str, body: DatasetIn, person: Member) -> DatasetFull:
    """Make a dataset of a file that waits, or of one of the hub (owners); it is read in the background."""

    def made(session: Session) -> DatasetFull:
        found = service.start(session, person, request.app.state.settings, task, body)
        return views.full(session, person, task, found.name)

    return await request.app.state.db.awrite(made)  # type: ignore[no-any-return]


@router.post("/tasks/{task}/datasets/rounds/{n}", status_code=201)
async def make_of_round(request: Request, task: str, n: int, person: Member) -> DatasetFull:
    """Make a dataset of a round's verified examples, or a new version of it (owners)."""
    name = await of_round(request, task, n, person)
    return await request.app.state.db.aread(views.full, person, task, name)  # type: ignore[no-any-return]


async def of_round(request: Request, task: str, n: int, person: Member) -> str:
    """Store a round's rows in a thread, then its dataset; the dataset's name."""
    db: Database = request.app.state.db
    if not 1 <= n <= 100_000:
        raise errors.NotFound(_("Task %(task)s has no round %(n)s.", task=repr(task), n=n))
    round_id, config, what = await db.aread(from_rounds.frozen, person, task, n)
    written = await to_thread.run_sync(from_rounds.write, db, request.app.state.settings, config, what)
    return await db.awrite(lambda s: from_rounds.of_round(s, person, round_id, written).name)


@router.get(PATH)
async def read_dataset(request: Request, task: str, name: str, viewer: Viewer) -> DatasetFull:
    """A dataset with its card, versions and slices."""
    return await request.app.state.db.aread(views.full, viewer, task, name)  # type: ignore[no-any-return]


@router.patch(PATH)
async def edit_dataset(request: Request, task: str, name: str, body: Change, person: Member) -> DatasetFull:
    """Change what is given (owners): visibility, weight, title, card, licence, languages, source, retired."""

    def changed(session: Session) -> DatasetFull:
        return views.full(session, person, task, name, library.change(session, person, task, name, body))

    return await request.app.state.db.awrite(changed)  # type: ignore[no-any-return]


@router.post(PATH + "/versions", status_code=202)
async def add_version(request: Request, task: str, name: str, body: VersionIn, person: Member) -> DatasetFull:
    """Read a new version, in the background (owners)."""

    def made(session: Session) -> DatasetFull:
        found = library.owned(session, person, task, name)
        service.renew(session, person, request.app.state.settings, found, body)
        return views.full(session, person, task, name)

    return await request.app.state.db.awrite(made)  # type: ignore[no-any-return]


@router.get(PATH + "/versions/{n}/refused")
async def list_refused_rows(
    request: Request, task: str, name: str, n: int, person: Member, after: After = "", limit: Limit = 50
) -> round_schemas.RefusedPage:
    """The rows that a version's reading refused, with the reasons, in the file's order (owners)."""

    def read(session: Session) -> round_schemas.RefusedPage:
        found = views.version(session, person, task, name, n)
        return owner_lists.refused(session, found.job_id or "", after, limit)

    return await request.app.state.db.aread(read)  # type: ignore[no-any-return]


@router.get(
    PATH + "/rows",
    dependencies=[Depends(limited("export", 20, 60))],
    response_class=Response,
    responses={200: {"description": "All rows of the newest version.", "content": {
        name: {} for name in ("application/x-ndjson", "text/csv", "application/vnd.apache.parquet")}}},
)  # fmt: skip
async def rows(request: Request, task: str, name: str, viewer: Viewer, format: Format = "jsonl") -> Response:
    """The rows of a public dataset."""
    version = await request.app.state.db.aread(library.rows_for, viewer, task, name)
    made: Any = library_files.parts(request.app.state.settings, version.digest, format)
    file = f"{task}-{name}-v{version.number}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{file}"', "X-Dataset-Digest": version.digest}
    if format == "parquet":
        headers["Content-Encoding"] = "identity"
    return Download(made, media_type=library_files.FORMATS[format], headers=headers)
