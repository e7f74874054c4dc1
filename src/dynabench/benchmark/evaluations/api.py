"""Evaluations as JSON: their progress, their scores, their signed records."""

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, Field
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.evaluations import card_results, records, row_scores, service
from dynabench.benchmark.evaluations.measures import find_measure
from dynabench.benchmark.evaluations.service import EvaluationView
from dynabench.benchmark.evaluations.tables import Score
from dynabench.kit.api import MARKDOWN, Db, csv_response, download, file_route, page_address
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member, Viewer, scope


class EvaluationOut(BaseModel):
    """One model on one dataset version. `model` and `submission` are null where they are anonymous to you.

    `place` is how many evaluations are before it, `expected` when it should be done; `code` says why it ended, `advice`
    what to do about it; `reason` and `log` are for the submitter, and empty for hidden datasets.
    """

    id: int
    task: str
    dataset: str
    version: int
    model: str | None
    submission: int | None
    state: str
    attempt: int
    rows: int
    rows_done: int
    place: int | None
    expected: datetime | None
    code: str
    advice: str
    reason: str
    log: str
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    may_cancel: bool
    may_retry: bool


class EvaluationPage(BaseModel):
    """A page of a list; `next` is the `after` of the following one."""

    items: list[EvaluationOut]
    next: int | None


class ScoreOut(BaseModel):
    """A score of the whole (`slice` is empty) or of the rows with a tag; `low` and `high` bound its 95 % interval."""

    metric: str
    title: str
    version: int
    slice: str
    value: float
    low: float | None
    high: float | None
    n: int
    better: str
    unit: str
    scale: float


class ScoresOut(BaseModel):
    """All scores of an evaluation."""

    items: list[ScoreOut]


class RecordOut(BaseModel):
    """A signed record; `key` is the public key that it was signed with, in base64."""

    document: dict[str, Any]
    signature: str
    key: str


class ScoredRowOut(BaseModel):
    """One row; of a dataset whose rows are not shown, its uid and whether the answer is right."""

    number: int
    uid: str
    right: bool
    inputs: dict[str, Any]
    answers: list[Any]
    prediction: Any = Field(serialization_alias="said")
    probabilities: dict[str, float] | None
    tags: list[str]


class ResultPage(BaseModel):
    """A page of results; `next` is the `after` of the following one."""

    items: list[ScoredRowOut]
    next: int | None


class KeyOut(BaseModel):
    """The deployment's public key: Ed25519, 32 bytes in base64; `older` ones, newest first, sign nothing any more."""

    algorithm: str = "Ed25519"
    key: str
    older: list[str]


router = APIRouter(prefix="/api/v1", tags=["evaluations"], dependencies=[Depends(scope("manage"))])

MAX_ID = 2**63 - 1
Id = Annotated[int, Path(ge=1, le=MAX_ID)]
After = Annotated[int | None, Query(ge=0, le=MAX_ID)]
Limit = Annotated[int, Query(ge=1, le=200)]
Word = Annotated[str, Query(max_length=200)]
State = Literal["", "queued", "checking", "running", "scoring", "done", "failed", "cancelled"]


@router.get("/tasks/{task}/evaluations")
async def list_evaluations(
    db: Db,
    task: str,
    viewer: Viewer,
    state: State = "",
    submission: After = None,
    dataset: Word = "",
    after: After = None,
    limit: Limit = 50,
) -> EvaluationPage:
    """Evaluations of a task, newest first: in one state, of one submission, on one dataset."""
    views, following = await db.aread(service.list_evaluations, viewer, task, after, limit, state, submission, dataset)
    return EvaluationPage(items=[evaluation_out(view) for view in views], next=following)


@router.get("/evaluations/{id}")
async def show_evaluation(db: Db, id: Id, viewer: Viewer) -> EvaluationOut:
    """Return an evaluation: its progress, or its result."""
    return evaluation_out(await db.aread(service.find_evaluation, viewer, id))


@router.get("/evaluations/{id}/scores", response_model=ScoresOut)
async def evaluation_scores(db: Db, id: Id, viewer: Viewer, format: Literal["json", "csv"] = "json") -> Any:
    """Return the scores of the whole, and of the rows with each tag; `format=csv` for a spreadsheet."""
    _, scores = await db.aread(service.visible_scores, viewer, id)
    items = [ScoreOut(**score_fields(item)) for item in scores]
    if format == "csv":
        rows = [list(item.model_dump().values()) for item in items]
        return csv_response(f"evaluation-{id}.csv", list(ScoreOut.model_fields), rows)
    return ScoresOut(items=items)


@router.get("/evaluations/{id}/record")
async def evaluation_record(db: Db, id: Id, viewer: Viewer) -> RecordOut:
    """Return the signed record, from which the evaluation can be repeated. `dynabench evaluate verify` checks it."""
    record = await db.aread(service.visible_record, viewer, id)
    return RecordOut(document=record.document, signature=record.signature, key=record.document["key"])


@router.get("/evaluations/{id}/card", **file_route(_("The front matter."), MARKDOWN))
async def read_evaluation_card(request: Request, db: Db, id: Id, viewer: Viewer) -> Response:
    """Return the scores as front matter for the model's card, each with a token that `dynabench evaluate verify`
    checks."""
    settings, address = request.app.state.settings, page_address(request, "evaluation", id=id)
    text = await db.aread(card_results.evaluation_card, settings, viewer, id, address)
    return download(text.encode(), MARKDOWN, f"evaluation-{id}.md")


@router.get("/evaluations/{id}/examples")
async def evaluation_examples(
    request: Request,
    db: Db,
    id: Id,
    viewer: Viewer,
    after: After = None,
    limit: Limit = 50,
    wrong: bool = False,
    tag: Word = "",
) -> ResultPage:
    """Return the model's answers row by row: of public datasets for all, of scoring datasets only right or wrong,
    for the submitter."""
    first = -1 if after is None else after
    settings = request.app.state.settings
    page = await db.aread(row_scores.result_page, settings, viewer, id, first, limit, wrong, tag)
    items = [ScoredRowOut(**asdict(item)) for item in page.items]
    return ResultPage(items=items, next=page.next)


@router.post("/evaluations/{id}/cancel")
async def cancel_evaluation(db: Db, id: Id, person: Member) -> EvaluationOut:
    """End an evaluation within seconds (its submitter, admins); what was answered stays for another run."""
    return await _change(db, service.cancel_evaluation, person, id)


@router.post("/evaluations/{id}/retry")
async def retry_evaluation(db: Db, id: Id, person: Member) -> EvaluationOut:
    """Run one again that failed or was cancelled (its submitter, admins); it goes on where it stopped."""
    return await _change(db, service.retry_evaluation, person, id)


@router.get("/key")
async def signing_key(request: Request) -> KeyOut:
    """The public key that records are signed with, and those that earlier ones were signed with."""
    key, *older = records.public_keys(request.app.state.settings)
    return KeyOut(key=key, older=older)


async def _change(db: Database, act: Any, person: Any, id: int) -> EvaluationOut:
    def write(session: Session) -> EvaluationOut:
        act(session, person, id)
        session.flush()
        return evaluation_out(service.find_evaluation(session, person, id))

    return await db.awrite(write)


def evaluation_out(seen: EvaluationView) -> EvaluationOut:
    """Return an evaluation as its viewer may see it."""
    row = seen.evaluation
    row_fields = ("id", "state", "attempt", "rows", "rows_done", "code", "created_at", "started_at", "ended_at")
    view_fields = ("place", "expected", "advice", "reason", "log", "may_cancel", "may_retry")
    return EvaluationOut(
        **{name: getattr(row, name) for name in row_fields},
        **{name: getattr(seen, name) for name in view_fields},
        task=seen.dataset.task_id,
        dataset=seen.dataset.name,
        version=seen.version.number,
        model=seen.name or None,
        submission=seen.submission.id if seen.name else None,
    )


def score_fields(score: Score) -> dict[str, Any]:
    """Return a score with the title, direction, unit and scale of its measure."""
    measure_info = find_measure(score.metric)
    fields = ("metric", "version", "slice", "value", "low", "high", "n")
    measure_fields = {
        "title": measure_info.title,
        "better": measure_info.better,
        "unit": measure_info.unit,
        "scale": measure_info.scale,
    }
    return {name: getattr(score, name) for name in fields} | measure_fields
