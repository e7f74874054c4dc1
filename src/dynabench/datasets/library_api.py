"""Datasets as programs see them: the list, one, its rows, and what owners do with them."""

import re
from typing import Annotated, Any, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.datasets import conversions, downloads, library
from dynabench.datasets.downloads import Download
from dynabench.datasets.intake import service
from dynabench.datasets.schemas import (
    DatasetChange,
    DatasetFull,
    DatasetIn,
    DatasetOut,
    DatasetPage,
    DatasetVersionOut,
    FileIn,
    SampleOut,
    VersionIn,
)
from dynabench.datasets.tables import Dataset, DatasetState, DatasetVersion
from dynabench.intake import sources
from dynabench.kit import errors, jobs
from dynabench.kit.api import After, AppSettings, Db, Limit
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.people.may import Action
from dynabench.rounds import owner_api, owner_lists, uploaded_files
from dynabench.rounds import schemas as round_schemas
from dynabench.rounds import service as rounds

VERSIONS = LISTED = 50  # on a page
CURSOR = re.compile(r"([a-z0-9-]{1,60})\.([01])\.([a-z0-9-]{1,62})")


def version_out(session: Session, dataset: Dataset, version: DatasetVersion, owner: bool) -> DatasetVersionOut:
    """Return a version; refused rows, progress and the small slices of what is hidden are for owners."""
    disclosure = Disclosure.of(None, dataset, owner=owner)
    slices = {name: n for name, n in version.slices.items() if disclosure.shows_tag(n, version.rows)}
    out = DatasetVersionOut(
        number=version.number, state=version.state, digest=version.digest, rows=version.rows, slices=slices,
        created_at=version.created_at,
    )  # fmt: skip
    if owner:
        out.reason = version.reason
        if version.job_id:
            out.refused = session.scalar(library.count_refused(version.job_id))
            job = session.get(jobs.Job, version.job_id)
            done = (job.done if job else None) or {}
            if version.state == DatasetState.READING:
                out.progress = {name: done.get(name, 0) for name in ("rows", "refused", "bytes", "of")}
    return out


def _common(session: Session, dataset: Dataset, version: DatasetVersion | None, owner: bool) -> dict[str, object]:
    newest = version_out(session, dataset, version, owner) if version else None
    return {
        "task": dataset.task_id, "name": dataset.name, "title": dataset.title, "kind": dataset.kind,
        "visibility": dataset.visibility, "licence": dataset.licence, "languages": dataset.languages,
        "source": dataset.source, "weight": dataset.weight, "retired": dataset.retired_at is not None,
        "created_at": dataset.created_at, "version": newest,
    }  # fmt: skip


def dataset_page(
    session: Session, viewer: Person | None, task: str = "", q: str = "", after: str = "", limit: int = LISTED
) -> DatasetPage:
    """A page of the datasets that the viewer may see."""
    if task:
        rounds.get_task(session, task)
    sought = library.dataset_filter(session, viewer, task, q)
    datasets = session.execute(library.list_datasets(sought, _place(after)).limit(limit + 1)).all()
    items = [
        DatasetOut.model_validate(_common(session, dataset, version, False)) for dataset, version in datasets[:limit]
    ]
    last = datasets[limit - 1][0] if len(datasets) > limit else None
    following = f"{last.task_id}.{int(last.retired_at is not None)}.{last.name}" if last else None
    hidden = session.scalar(library.count_hidden(task)) if task else None
    return DatasetPage(items=items, next=following, hidden=hidden)


def dataset_counts(session: Session, viewer: Person | None, q: str = "") -> dict[str, int]:
    """Return the number of datasets that the viewer may see, by task."""
    return dict(session.execute(library.count_by_task(library.dataset_filter(session, viewer, "", q))).all())


def _place(after: str) -> library.Place | None:
    """The place that a page's cursor stands for; None for the first page."""
    if not after:
        return None
    if not (match := CURSOR.fullmatch(after)):
        raise errors.Invalid({"after": _("Give the `next` value of an earlier page.")})
    return match[1], match[2] == "1", match[3]


def dataset_full(session: Session, viewer: Person | None, task: str, name: str, warning: str = "") -> DatasetFull:
    """A dataset with its versions; those that are not ready are for owners."""
    dataset = library.find_dataset(session, viewer, task, name)
    owner = bool(may.may_in(session, viewer, Action.MANAGE_DATASETS, task))
    current = session.get(DatasetVersion, dataset.version_id) if dataset.version_id else None
    versions = session.scalars(library.dataset_versions(dataset.id).limit(VERSIONS))
    listed = [
        version_out(session, dataset, entry, owner) for entry in versions if owner or entry.state == DatasetState.READY
    ]
    common = _common(session, dataset, current, owner)
    return DatasetFull.model_validate({**common, "card": dataset.card, "versions": listed, "warning": warning})


def owned_version(session: Session, person: Person | None, task: str, name: str, number: int) -> DatasetVersion:
    """A version of a dataset, for owners."""
    dataset = library.owned_dataset(session, person, task, name)
    for candidate in session.scalars(library.dataset_versions(dataset.id)):
        if candidate.number == number:
            return candidate
    raise errors.NotFound(_("Dataset %(name)s has no version %(number)s.", name=repr(name), number=number))


router = APIRouter()  # `datasets.api` includes it, with its prefix, tag and scope
Words = Annotated[str, Query(max_length=100)]
Cursor = Annotated[str, Query(max_length=130, description="The `next` of the page before.")]
Format = Literal["jsonl", "csv", "parquet"]
PATH = "/tasks/{task}/datasets/{name}"


@router.get("/datasets")
async def list_all(
    db: Db, viewer: Viewer, q: Words = "", task: Words = "", after: Cursor = "", limit: Limit = 50
) -> DatasetPage:
    """A page of the datasets of all tasks that you may see."""
    return await db.aread(dataset_page, viewer, task, q, after, limit)


@router.get("/tasks/{task}/datasets")
async def list_of_task(
    db: Db, task: str, viewer: Viewer, q: Words = "", after: Cursor = "", limit: Limit = 50
) -> DatasetPage:
    """A page of the datasets of a task that you may see."""
    return await db.aread(dataset_page, viewer, task, q, after, limit)


@router.post("/tasks/{task}/datasets/files", status_code=201, openapi_extra=owner_api.BINARY_BODY)
async def send_dataset_file(
    request: Request,
    settings: AppSettings,
    db: Db,
    task: str,
    person: Member,
    name: owner_api.FileName,
) -> SampleOut:
    """Send a file as the body (owners): JSONL, CSV, TSV, JSON, Parquet, or a zipped folder of a dataset; `.gz` of
    these. It waits for its start, for a day."""
    config = await db.aread(rounds.require_config, person, Action.MANAGE_DATASETS, task)
    path = await uploaded_files.store_named_upload(settings, task, name, request.stream(), sources.kind_of_source)
    try:
        return await to_thread.run_sync(service.preview_dataset, path, config)
    except errors.Problem:
        path.unlink(missing_ok=True)
        raise


@router.post("/tasks/{task}/datasets/preview")
async def preview_dataset_file(settings: AppSettings, db: Db, task: str, body: FileIn, person: Member) -> SampleOut:
    """The first rows of a file that waits, under a layout (owners)."""
    config = await db.aread(rounds.require_config, person, Action.MANAGE_DATASETS, task)
    path = uploaded_files.find_named_upload(settings, task, body.file)
    return await to_thread.run_sync(service.preview_dataset, path, config, body.layout)


@router.post("/tasks/{task}/datasets", status_code=202)
async def add_dataset(settings: AppSettings, db: Db, task: str, body: DatasetIn, person: Member) -> DatasetFull:
    """Make a dataset of a file that waits, or of one of the hub (owners); it is read in the background."""

    def write(session: Session) -> DatasetFull:
        dataset = service.start_dataset(session, person, settings, task, body)
        return dataset_full(session, person, task, dataset.name)

    return await db.awrite(write)


@router.post("/tasks/{task}/datasets/rounds/{n}", status_code=201)
async def make_of_round(request: Request, db: Db, task: str, n: int, person: Member) -> DatasetFull:
    """Make a dataset of a round's verified examples, or a new version of it (owners)."""
    name = await make_round_dataset(request, task, n, person)
    return await db.aread(dataset_full, person, task, name)


async def make_round_dataset(request: Request, task: str, n: int, person: Member) -> str:
    """Store a round's rows in a thread, then its dataset; the dataset's name."""
    db: Database = request.app.state.db
    if not 1 <= n <= 100_000:
        raise errors.NotFound(_("Task %(task)s has no round %(n)s.", task=repr(task), n=n))
    round_id, config, scope = await db.aread(conversions.closed_round, person, task, n)
    written = await to_thread.run_sync(conversions.store_round_rows, db, request.app.state.settings, config, scope)
    return await db.awrite(lambda s: conversions.make_dataset(s, person, round_id, written).name)


@router.get(PATH)
async def read_dataset(db: Db, task: str, name: str, viewer: Viewer) -> DatasetFull:
    """A dataset with its card, versions and slices."""
    return await db.aread(dataset_full, viewer, task, name)


@router.patch(PATH)
async def edit_dataset(db: Db, task: str, name: str, body: DatasetChange, person: Member) -> DatasetFull:
    """Change what is given (owners): visibility, weight, title, card, licence, languages, source, retired."""

    def changed(session: Session) -> DatasetFull:
        return dataset_full(session, person, task, name, library.change_dataset(session, person, task, name, body))

    return await db.awrite(changed)


@router.post(PATH + "/versions", status_code=202)
async def add_version(
    settings: AppSettings, db: Db, task: str, name: str, body: VersionIn, person: Member
) -> DatasetFull:
    """Read a new version, in the background (owners)."""

    def write(session: Session) -> DatasetFull:
        dataset = library.owned_dataset(session, person, task, name)
        service.start_version(session, person, settings, dataset, body)
        return dataset_full(session, person, task, name)

    return await db.awrite(write)


@router.get(PATH + "/versions/{n}/refused")
async def list_refused_rows(
    db: Db, task: str, name: str, n: int, person: Member, after: After = None, limit: Limit = 50
) -> round_schemas.RefusedPage:
    """The rows that a version's reading refused, with the reasons, in the file's order (owners)."""

    def read(session: Session) -> round_schemas.RefusedPage:
        version = owned_version(session, person, task, name, n)
        return owner_lists.list_refused_rows(session, version.job_id or "", after, limit)

    return await db.aread(read)


@router.get(
    PATH + "/rows",
    dependencies=[Depends(limited("export", 20, 60))],
    response_class=Response,
    responses={200: {"description": "All rows of the newest version.", "content": {
        name: {} for name in ("application/x-ndjson", "text/csv", "application/vnd.apache.parquet")}}},
)  # fmt: skip
async def rows(
    settings: AppSettings, db: Db, task: str, name: str, viewer: Viewer, format: Format = "jsonl"
) -> Response:
    """The rows of a public dataset."""
    version = await db.aread(library.readable_version, viewer, task, name)
    parts: Any = downloads.dataset_file_parts(settings, version.digest, format)
    file = f"{task}-{name}-v{version.number}.{format}"
    headers = {"Content-Disposition": f'attachment; filename="{file}"', "X-Dataset-Digest": version.digest}
    if format == "parquet":
        headers["Content-Encoding"] = "identity"
    return Download(parts, media_type=downloads.DATASET_MEDIA_TYPES[format], headers=headers)
