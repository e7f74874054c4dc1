"""The JSON API of open evaluations: files, plans, evaluations, boards, predictions, records."""

import uuid
from collections.abc import AsyncIterator
from typing import Annotated, Literal

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from fastapi import Path as PathParameter
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.registry.pages import visible_models
from dynabench.kit import errors
from dynabench.kit.api import After, AppSettings, Db, Limit, attachment, csv_response, site_address
from dynabench.kit.db import Database
from dynabench.kit.disk import erase_paths
from dynabench.kit.language import _
from dynabench.kit.security import throttle
from dynabench.kit.settings import Settings
from dynabench.models.protocol import ModelCard
from dynabench.open_evaluations import (
    board,
    planning,
    predictions,
    published_predictions,
    records,
    remote_downloads,
    remote_source,
    service,
)
from dynabench.open_evaluations.choices import OpenChoices
from dynabench.open_evaluations.schemas import (
    BoardOut,
    DatasetFileOut,
    OpenEvaluationOut,
    OpenEvaluationPage,
    OpenRecordOut,
    PlanOut,
    PublicationIn,
    PublicationOut,
    RemoteDatasetIn,
    RemoteDownloadOut,
)
from dynabench.open_evaluations.uploaded_rows import require_known_kind
from dynabench.people import may
from dynabench.people.accounts.auth import Member, Viewer, scope
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import uploaded_files
from dynabench.rounds.schemas import Number

router = APIRouter(
    prefix="/api/v1/open-evaluations", tags=["open evaluations"], dependencies=[Depends(scope("annotate"))]
)
FileName = Annotated[str, Query(min_length=1, max_length=200, description="Its ending tells the kind of file.")]
FileId = Annotated[str, PathParameter(max_length=36)]
NEWEST = 2**63 - 1


async def usable_cards(request: Request, viewer: Person | None) -> list[ModelCard]:
    """Return the cards of the models that the viewer may see, a version of each."""
    models, down = await visible_models(request, viewer)
    if down:
        raise errors.Unavailable(down)
    return [model.card for model in models if model.card is not None]


async def store_file(
    db: Database, settings: Settings, person: Person, name: str, parts: AsyncIterator[bytes]
) -> DatasetFileOut:
    """Store an uploaded file and read it once; raises `Invalid` under `file`, and then nothing of it stays."""
    allowed = may.may(person, Action.EVALUATE_OPENLY)
    if not allowed:
        raise errors.Forbidden(allowed.reason)
    plain, id = service.plain_name(name), str(uuid.uuid4())
    require_known_kind(plain)
    path = await uploaded_files.write_stream(service.new_file_path(settings, id), parts)
    try:
        facts = await to_thread.run_sync(service.check_file, settings, id, plain)
        dataset = await db.awrite(service.add_file, settings, person, id, plain, facts)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return DatasetFileOut(dataset=dataset, name=plain, rows=facts[0])


@router.post("/files", status_code=201)
async def upload_file(
    request: Request, db: Db, settings: AppSettings, person: Member, name: FileName
) -> DatasetFileOut:
    """Upload rows as the body: CSV, TSV, JSON, JSON lines or Parquet, a zip of these, or a zip of pictures in folders.

    The file is for open evaluations of yours alone, and is deleted after 30 days. Evaluations of it stay.
    """
    return await store_file(db, settings, person, name, request.stream())


@router.delete("/files/{id}", status_code=204)
async def remove_file(db: Db, settings: AppSettings, id: FileId, person: Member) -> None:
    """Delete an uploaded file of yours before its time. Evaluations of it stay, with their rows and predictions."""
    erase_paths(await db.awrite(service.delete_file, settings, person, id))


@router.post("/remote-datasets", status_code=202)
async def fetch_rows(
    request: Request, db: Db, settings: AppSettings, person: Member, body: RemoteDatasetIn
) -> RemoteDownloadOut:
    """Fetch one split of a dataset of the hub that the operator chose, for evaluations of anybody here.

    A request that is sent again gets the download that is there or on its way; one that failed starts again.
    """
    return await start_fetching(request, db, settings, person, OpenChoices.parse(body.model_dump()))


async def start_fetching(
    request: Request, db: Database, settings: Settings, person: Person, choices: OpenChoices
) -> RemoteDownloadOut:
    """Start the download of the chosen dataset and return how far it is."""
    throttle(request, "remote-datasets", 60, 3600)
    download = await db.awrite(remote_source.start_download, settings, person, choices)
    return RemoteDownloadOut.model_validate(remote_downloads.download_document(settings, download))


@router.get("/remote-datasets")
async def read_download(
    settings: AppSettings, person: Member, chosen: Annotated[RemoteDatasetIn, Query()]
) -> RemoteDownloadOut:
    """Return how far a download is."""
    wish = remote_source.remote_request(OpenChoices.parse(chosen.model_dump()))
    download = await to_thread.run_sync(remote_downloads.find_download, settings, wish)
    if download is None:
        raise errors.NotFound(_("%(name)s is not on this platform yet. Fetch it first.", name=wish.dataset))
    return RemoteDownloadOut.model_validate(remote_downloads.download_document(settings, download))


@router.get("/plan")
async def read_plan(request: Request, db: Db, settings: AppSettings, person: Member) -> PlanOut:
    """Return the plan for the choices in the query, which are those of the page's address: what is left out is guessed.

    Names: `dataset`, `split`, `task`, `pair`, `rows`, `title`, `listed`, `column.ROLE`, `metric`, `model`,
    `label.MODEL:LABEL`. Nothing is started.
    """
    choices = OpenChoices.from_query(request.query_params.multi_items())
    cards = await usable_cards(request, person)
    return PlanOut.of(await db.aread(planning.make_plan, settings, person, choices, cards))


@router.post("", status_code=202)
async def start(
    request: Request, db: Db, settings: AppSettings, person: Member, choices: OpenChoices
) -> OpenEvaluationOut:
    """Start an open evaluation: choices that are left out are guessed as in the plan."""
    cards = await usable_cards(request, person)

    def begin(session: Session) -> OpenEvaluationOut:
        evaluation = service.start_evaluation(session, settings, person, choices, cards)
        session.flush()
        return OpenEvaluationOut.of(service.find_evaluation(session, person, evaluation.id))

    return await db.awrite(begin)


@router.get("")
async def list_all(db: Db, viewer: Viewer, after: After = None, limit: Limit = 50) -> OpenEvaluationPage:
    """List your open evaluations and those that everybody may see, newest first."""
    before = NEWEST if after is None else after
    rows = await db.aread(service.list_evaluations, viewer, before, limit + 1)
    items = [OpenEvaluationOut.of(seen) for seen in rows]
    return OpenEvaluationPage.cut(items, limit)


@router.get("/{id}")
async def read(db: Db, id: Number, viewer: Viewer) -> OpenEvaluationOut:
    """Return an open evaluation and how far each of its models is."""
    return OpenEvaluationOut.of(await db.aread(service.find_evaluation, viewer, id))


@router.get("/{id}/board")
async def read_scores(db: Db, id: Number, viewer: Viewer, by: Annotated[str, Query(max_length=200)] = "") -> BoardOut:
    """Return the scores with intervals, and paired differences of models on the metric `by` (the first by default)."""

    def find(session: Session) -> BoardOut:
        return BoardOut.of(board.read_board(session, service.find_evaluation(session, viewer, id), by))

    return await db.aread(find)


@router.get("/{id}/predictions")
async def download(
    db: Db, settings: AppSettings, id: Number, person: Member, format: Literal["csv", "parquet"] = "csv"
) -> Response:
    """Download rows, right answers and predictions (the author)."""
    table = await db.aread(predictions.prediction_table, settings, person, id)
    return await prediction_file(settings, id, table, format)


async def prediction_file(settings: Settings, id: int, table: predictions.PredictionTable, format: str) -> Response:
    """Return the predictions as a file of this format."""
    if format == "csv":
        lines = predictions.read_lines(settings, table)
        return csv_response(f"open-evaluation-{id}.csv", table.header, lines)
    content = await to_thread.run_sync(predictions.as_parquet, settings, table)
    headers = attachment(f"open-evaluation-{id}.parquet") | {"Cache-Control": "no-store"}
    return Response(content, media_type="application/vnd.apache.parquet", headers=headers)


@router.post("/{id}/predictions/dataset", status_code=201)
async def publish(
    request: Request, db: Db, settings: AppSettings, id: Number, person: Member, body: PublicationIn
) -> PublicationOut:
    """Publish rows, right answers and predictions as a dataset of yours on the hub (the author)."""
    return await publish_dataset(request, db, settings, id, person, body)


async def publish_dataset(
    request: Request, db: Database, settings: Settings, id: int, person: Person, body: PublicationIn
) -> PublicationOut:
    """Publish predictions and return the repository."""
    publish = published_predictions.publish_predictions
    site = site_address(request)
    entry = await to_thread.run_sync(publish, db, settings, person, id, body.name, body.private, site)
    return PublicationOut(repository=entry.full_name, private=entry.row.private)


@router.get("/{id}/record")
async def read_record(db: Db, id: Number, viewer: Viewer) -> OpenRecordOut:
    """Return the signed record."""

    def find(session: Session) -> OpenRecordOut:
        service.find_evaluation(session, viewer, id)
        return OpenRecordOut.model_validate(records.read_record(session, id))

    return await db.aread(find)


@router.post("/{id}/cancel")
async def cancel(db: Db, id: Number, person: Member) -> OpenEvaluationOut:
    """Cancel an open evaluation (its author); models that are done keep their scores."""
    await db.awrite(service.cancel_evaluation, person, id)
    return OpenEvaluationOut.of(await db.aread(service.find_evaluation, person, id))


@router.delete("/{id}", status_code=204)
async def delete(db: Db, settings: AppSettings, id: Number, person: Member) -> None:
    """Delete an open evaluation that has ended, with its answers and scores (its author)."""
    erase_paths(await db.awrite(service.delete_evaluation, settings, person, id))
