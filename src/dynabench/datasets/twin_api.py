"""Perturbed copies as JSON: which there are, their rows, making them anew, sending others."""

from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session

from dynabench.datasets import twin_files, twins
from dynabench.datasets.schemas import Axis, PairOut, PairPage, TwinIn, TwinOut, TwinsOut
from dynabench.datasets.tables import DatasetVersion, Twin
from dynabench.kit import errors
from dynabench.kit.api import After, AppSettings, Db, Limit
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import owner_api, uploaded_files

router = APIRouter()
TransformationName = Annotated[str, Query(max_length=60, description="Only copies by this transformation.")]


def visible_twins(
    session: Session, viewer: Person | None, task: str, name: str
) -> tuple[DatasetVersion, list[Twin], bool]:
    """The twins that a viewer may see: those that count, and for owners the last that was asked for on each axis."""
    _, version, mine = twins.visible_version(session, viewer, task, name)
    candidates = [session.scalar(twins.current_twin(version.id, axis)) for axis in twins.AXES]
    candidates += [session.scalar(twins.newest_twin(version.id, axis)) for axis in twins.AXES] if mine else []
    return version, list({twin.id: twin for twin in candidates if twin is not None}.values()), mine


def readable_twin(
    session: Session, viewer: Person | None, task: str, name: str, axis: str
) -> tuple[DatasetVersion, Twin]:  # fmt: skip
    """The twin of an axis that counts, to be read; `NotFound` without one, `Forbidden` where no row is shown."""
    dataset, version, _mine = twins.visible_version(session, viewer, task, name)
    Disclosure.of(viewer, dataset).require_rows()
    twin = session.scalar(twins.current_twin(version.id, axis))
    if twin is None:
        raise errors.NotFound(_("There are no such copies of this dataset."))
    return version, twin


@router.get("/tasks/{task}/datasets/{name}/twins")
async def list_twins(db: Db, task: str, name: str, viewer: Viewer) -> TwinsOut:
    """The perturbed copies of a dataset's newest version (owners; of public datasets everybody)."""
    _, found_twins, _ = await db.aread(visible_twins, viewer, task, name)
    return TwinsOut(items=[TwinOut.model_validate(twin) for twin in found_twins])


@router.get("/tasks/{task}/datasets/{name}/twins/{axis}")
async def list_copies(
    request: Request, db: Db, task: str, name: str, axis: Axis, viewer: Viewer,
    transformation: TransformationName = "", after: After = None, limit: Limit = 50,
) -> PairPage:  # fmt: skip
    """Copies beside their originals, in the file's order (of public datasets; of others nobody reads a row)."""
    version, twin = await db.aread(readable_twin, viewer, task, name, axis)
    pairs, following = await pairs_page(request, version, twin, transformation, after, limit)
    items = [
        PairOut(
            number=pair.number, uid=pair.copy.uid, of=pair.copy.original_uid, transformation=pair.copy.transformation,
            original=dict(pair.original.inputs), inputs=dict(pair.copy.inputs),
            answers=[dict(answer) for answer in pair.copy.answers],
        )
        for pair in pairs
    ]  # fmt: skip
    return PairPage(items=items, next=following)


async def pairs_page(
    request: Request, version: DatasetVersion, twin: Twin, transformation: str, after: int | None, limit: int
) -> tuple[list[twin_files.TwinPair], str | None]:
    """A page of pairs, and the cursor of the next."""
    files = request.app.state.settings, version.digest, twin.digest
    try:
        pairs = await to_thread.run_sync(twin_files.read_pairs, *files, transformation, after or 0, limit + 1)
    except FileNotFoundError:
        raise errors.Unavailable(_("The rows are missing. Tell the operator that a dataset's file is gone.")) from None
    return pairs[:limit], str(pairs[limit - 1].number) if len(pairs) > limit else None


@router.post("/tasks/{task}/datasets/{name}/twins", status_code=202, dependencies=[Depends(limited("twins", 20, 3600))])
async def make_twin(db: Db, task: str, name: str, body: TwinIn, person: Member) -> TwinOut:
    """Make the copies of an axis anew, in the background (owners). Those before count until they are ready."""

    def write(session: Session) -> TwinOut:
        choice = body.seed, body.transformations, body.copies
        twin = twins.generate_twin(session, person, task, name, body.axis, *choice)
        return TwinOut.model_validate(twin)

    return await db.awrite(write)


@router.post("/tasks/{task}/datasets/{name}/twins/{axis}/file", status_code=202, openapi_extra=owner_api.BINARY_BODY)
async def replace_twin(
    request: Request,
    settings: AppSettings,
    db: Db,
    task: str,
    name: str,
    axis: Axis,
    person: Member,
    file: owner_api.FileName,
) -> TwinOut:
    """Send copies of one's own as the body (owners): `uid`, `input_id` (the original's uid) and the input fields.

    They take the place of the axis's copies once every row is valid.
    """
    await db.aread(twins.owned_version, person, task, name)
    path = await uploaded_files.store_named_upload(settings, task, file, request.stream())

    def write(session: Session) -> TwinOut:
        twin = twins.replace_twin(session, person, settings, task, name, axis, path)
        return TwinOut.model_validate(twin)

    try:
        return await db.awrite(write)
    except errors.Problem:
        path.unlink(missing_ok=True)
        raise
