"""Evaluations as JSON: how they go, what they scored, their signed records."""

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy.orm import Session

from dynabench.accounts.auth import Member, Viewer, scope
from dynabench.db import Database
from dynabench.scoring import records, results, schemas, service
from dynabench.scoring.measures import measure
from dynabench.scoring.service import Seen
from dynabench.scoring.tables import Score
from dynabench.web.csv_files import csv_file

router = APIRouter(prefix="/api/v1", tags=["evaluations"], dependencies=[Depends(scope("manage"))])

LARGEST = 2**63 - 1
Id = Annotated[int, Path(ge=1, le=LARGEST)]
After = Annotated[int | None, Query(ge=0, le=LARGEST)]
Limit = Annotated[int, Query(ge=1, le=200)]
Word = Annotated[str, Query(max_length=200)]
State = Literal["", "queued", "checking", "running", "scoring", "done", "failed", "cancelled"]


def _db(request: Request) -> Database:
    db: Database = request.app.state.db
    return db


@router.get("/tasks/{task}/evaluations")
async def list_evaluations(
    request: Request,
    task: str,
    viewer: Viewer,
    state: State = "",
    submission: After = None,
    dataset: Word = "",
    after: After = None,
    limit: Limit = 50,
) -> schemas.EvaluationPage:
    """Evaluations of a task, newest first: in one state, of one submission, on one dataset."""
    found, following = await _db(request).aread(service.listed, viewer, task, after, limit, state, submission, dataset)
    return schemas.EvaluationPage(items=[out(each) for each in found], next=following)


@router.get("/evaluations/{id}")
async def show_evaluation(request: Request, id: Id, viewer: Viewer) -> schemas.EvaluationOut:
    """How an evaluation goes, or how it ended."""
    return out(await _db(request).aread(service.one, viewer, id))


@router.get("/evaluations/{id}/scores", response_model=schemas.ScoresOut)
async def evaluation_scores(request: Request, id: Id, viewer: Viewer, format: Literal["json", "csv"] = "json") -> Any:
    """What it scored: of the whole, and of the rows with each tag; `format=csv` for a sheet."""
    _, found = await _db(request).aread(service.scores, viewer, id)
    items = [schemas.ScoreOut(**score_out(each)) for each in found]
    if format == "csv":
        rows = [list(each.model_dump().values()) for each in items]
        return csv_file(f"evaluation-{id}.csv", list(schemas.ScoreOut.model_fields), rows)
    return schemas.ScoresOut(items=items)


@router.get("/evaluations/{id}/record")
async def evaluation_record(request: Request, id: Id, viewer: Viewer) -> schemas.RecordOut:
    """What is needed to run it again, signed. `dynabench evaluate verify` checks it."""
    found = await _db(request).aread(service.record, viewer, id)
    return schemas.RecordOut(document=found.document, signature=found.signature, key=found.document["key"])


@router.get("/evaluations/{id}/examples")
async def evaluation_examples(
    request: Request,
    id: Id,
    viewer: Viewer,
    after: After = None,
    limit: Limit = 50,
    wrong: bool = False,
    tag: Word = "",
) -> schemas.ResultPage:
    """Row by row what the model said: of public datasets for all, of scoring ones right or wrong for the submitter."""
    first = -1 if after is None else after
    settings = request.app.state.settings
    found = await _db(request).aread(results.page, settings, viewer, id, first, limit, wrong, tag)
    items = [schemas.ScoredRowOut(**asdict(each)) for each in found.items]
    return schemas.ResultPage(items=items, next=found.next)


@router.post("/evaluations/{id}/cancel")
async def cancel_evaluation(request: Request, id: Id, person: Member) -> schemas.EvaluationOut:
    """End an evaluation within seconds (its submitter, admins); what was answered stays for another run."""
    return await _done(request, service.cancel, person, id)


@router.post("/evaluations/{id}/retry")
async def retry_evaluation(request: Request, id: Id, person: Member) -> schemas.EvaluationOut:
    """Run one again that failed or was cancelled (its submitter, admins); it goes on where it stopped."""
    return await _done(request, service.retry, person, id)


@router.get("/key")
async def signing_key(request: Request) -> schemas.KeyOut:
    """The public key that records are signed with, and those that earlier ones were signed with."""
    key, *older = records.public_keys(request.app.state.settings)
    return schemas.KeyOut(key=key, older=older)


async def _done(request: Request, act: Any, person: Any, id: int) -> schemas.EvaluationOut:
    def write(session: Session) -> schemas.EvaluationOut:
        act(session, person, id)
        session.flush()
        return out(service.one(session, person, id))

    return await _db(request).awrite(write)


def out(seen: Seen) -> schemas.EvaluationOut:
    """An evaluation as its viewer sees it."""
    of = seen.evaluation
    kept = ("id", "state", "attempt", "rows", "rows_done", "code", "created_at", "started_at", "ended_at")
    shared = ("place", "expected", "advice", "reason", "log", "may_cancel", "may_retry")
    return schemas.EvaluationOut(
        **{name: getattr(of, name) for name in kept},
        **{name: getattr(seen, name) for name in shared},
        task=seen.dataset.task_id,
        dataset=seen.dataset.name,
        version=seen.version.number,
        model=seen.name or None,
        submission=seen.submission.id if seen.name else None,
    )


def score_out(score: Score) -> dict[str, Any]:
    """A score with what its measure says of it."""
    told = measure(score.metric)
    kept = ("metric", "version", "slice", "value", "low", "high", "n")
    about = {"title": told.title, "better": told.better, "unit": told.unit, "scale": told.scale}
    return {name: getattr(score, name) for name in kept} | about
