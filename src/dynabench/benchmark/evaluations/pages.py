"""Evaluations as pages: one evaluation, one submission with its evaluations, and the key of signatures."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.evaluations import queries, records, row_scores, service
from dynabench.benchmark.evaluations.api import After, Id, score_fields
from dynabench.benchmark.evaluations.tables import Evaluation, EvaluationState
from dynabench.benchmark.registry import predictions, submissions
from dynabench.benchmark.registry import queries as registry_queries
from dynabench.benchmark.registry.tables import Submission, SubmissionState
from dynabench.kit import errors
from dynabench.kit.api import Db
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.disclosure import Disclosure
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.web import render

router = APIRouter(include_in_schema=False)
ROWS = 20
"""Rows of results on a page."""


@router.get("/evaluations/{id}", name="evaluation", dependencies=[Depends(people.load_actions)])
async def evaluation(
    request: Request,
    db: Db,
    id: Id,
    viewer: Viewer,
    after: After = None,
    wrong: bool = False,
    tag: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show an evaluation; htmx reloads its first part while the evaluation goes on."""
    first = -1 if after is None else after
    values = await db.aread(_page_values, request.app.state.settings, viewer, id, first, wrong, tag)
    here = str(request.app.url_path_for("evaluation", id=id))
    return render(request, "evaluations/evaluation.html", fragment="evaluations/_state.html", here=here, **values)


@router.post("/evaluations/{id}/cancel", name="cancel_evaluation_form")
async def cancel(request: Request, id: Id, person: Member) -> Response:
    """Cancel an evaluation."""
    return await _act(request, service.cancel_evaluation, person, id)


@router.post("/evaluations/{id}/retry", name="retry_evaluation_form")
async def retry(request: Request, id: Id, person: Member) -> Response:
    """Run an evaluation again."""
    return await _act(request, service.retry_evaluation, person, id)


@router.get("/.well-known/dynabench-key", name="signing_key_file")
async def key(request: Request) -> Response:
    """The public keys that records are signed with, in base64, one a line: the present one first, then older ones."""
    return Response("\n".join([*records.public_keys(request.app.state.settings), ""]), media_type="text/plain")


async def _act(request: Request, act: Any, person: Person, id: int) -> Response:
    db: Database = request.app.state.db
    await db.awrite(act, person, id)
    return RedirectResponse(str(request.app.url_path_for("evaluation", id=id)), status_code=303)


def _page_values(
    session: Session, settings: Any, viewer: Person | None, id: int, after: int, wrong: bool, tag: str
) -> dict[str, Any]:
    seen, rows = service.visible_scores(session, viewer, id)
    config = rounds.newest_config(session, seen.dataset.task_id)
    scores = [score_fields(entry) for entry in rows]
    costs = [entry for entry in scores if not entry["slice"] and _is_cost(entry["metric"])]
    page, problem_text = None, ""
    if seen.shows_rows:
        try:
            page = row_scores.result_page(session, settings, viewer, id, after, ROWS, wrong, tag)
        except (errors.Unavailable, errors.Forbidden) as problem:
            problem_text = problem.detail
    return {
        "seen": seen,
        "config": config,
        "whole": [entry for entry in scores if not entry["slice"] and entry not in costs],
        "costs": costs,
        "slices": [entry for entry in scores if entry["slice"]],
        "page": page,
        "told": problem_text,
        "wrong": wrong,
        "tag": tag,
    }


def _is_cost(name: str) -> bool:
    from dynabench.benchmark.evaluations.measures import find_measure

    return find_measure(name).cost


RECENT_EVALUATIONS = 50


@dataclass(frozen=True)
class SubmissionEvaluation:
    """One evaluation. Of a hidden dataset only its state, share and code are known: no reason, no log, no rows.

    `place` is how many end before one that waits, `finish` when it may be done by the pace of the last ones; None
    where nothing is known. `spent` is what the answers of one that is done cost, None where they have no price.
    """

    id: int
    dataset: str
    number: int
    disclosure: Disclosure
    state: str
    share: float
    code: str
    reason: str
    log: str
    rows: int | None
    place: int | None
    finish: datetime | None
    spent: float | None


def evaluations_of(session: Session, viewer: Person, submission: Submission) -> list[SubmissionEvaluation]:
    """Return the submission's evaluations by dataset."""
    pace, spent = _pace(session), dict(session.execute(queries.evaluation_prices(submission.id)).all())
    evaluations = []
    for evaluation, version, dataset in session.execute(queries.evaluations_of_submission(submission.id)):
        disclosure = Disclosure.of(viewer, dataset, submission)
        place, finish = _expected(session, evaluation, pace)
        share = (
            1.0
            if evaluation.state == EvaluationState.DONE
            else evaluation.rows_done / evaluation.rows
            if evaluation.rows
            else 0.0
        )
        texts = (evaluation.reason, evaluation.log) if disclosure.log else ("", "")
        rows = evaluation.rows or version.rows if disclosure.counts else None
        evaluations.append(
            SubmissionEvaluation(
                evaluation.id,
                dataset.title or dataset.name,
                version.number,
                disclosure,
                evaluation.state,
                share,
                evaluation.code,
                *texts,
                rows,
                place,
                finish,
                spent.get(evaluation.id),
            )
        )
    return evaluations


def missing_datasets(session: Session, settings: Settings, submission: Submission) -> list[tuple[str, int]]:
    """Return the datasets, by title and version, that a ready file of predictions does not cover, since they are
    newer."""
    if submission.kind != "predictions" or submission.state != SubmissionState.READY:
        return []
    needed = session.execute(registry_queries.evaluated_datasets(submission.task_id))
    return [
        (dataset.title or dataset.name, version.number)
        for dataset, version in needed
        if not predictions.has_predictions(settings, submission, version)
    ]


def _pace(session: Session) -> float | None:
    """Seconds a row took in the last evaluations; None before there were any."""
    rows, seconds = 0, 0.0
    for count, started, ended in session.execute(queries.recent_evaluations(RECENT_EVALUATIONS)):
        if started is not None and ended is not None:
            rows, seconds = rows + count, seconds + (ended - started).total_seconds()
    return seconds / rows if rows else None


def _expected(session: Session, evaluation: Evaluation, pace: float | None) -> tuple[int | None, datetime | None]:
    if evaluation.state not in queries.OPEN_STATES:
        return None, None
    rows_left = evaluation.rows - evaluation.rows_done
    place = None
    if evaluation.state == EvaluationState.QUEUED:
        place, ahead = session.execute(queries.waiting_ahead(evaluation.created_at, evaluation.id)).one()
        rows_left += ahead or 0
    return place, now() + timedelta(seconds=pace * rows_left) if pace is not None and rows_left else None


QUEUED_WITHIN = timedelta(minutes=2)
DONE = {
    "cancel": _("The check was cancelled."),
    "retry": _("The check was started again."),
    "withdraw": _("The submission was withdrawn. The ledger still lists it."),
    "visibility": _("Visibility saved."),
}


@router.get("/submissions/{id}", name="submission")
async def show(request: Request, db: Db, id: Id, person: Member, done: str = "") -> Response:
    """A submission for its submitter and admins, a public one also for the task's owners."""

    def read(session: Session) -> dict[str, Any]:
        seen = submissions.find_submission(session, person, id)
        return {
            "seen": seen,
            "made": seen.submission,
            "config": rounds.newest_config(session, seen.submission.task_id),
            "evaluations": evaluations_of(session, person, seen.submission),
            "lacking": missing_datasets(session, request.app.state.settings, seen.submission),
        }

    values = await db.aread(read)
    submission_row = values["made"]
    open_ones = any(evaluation.state in queries.OPEN_STATES for evaluation in values["evaluations"])
    going = submission_row.state in registry_queries.GOING or (
        submission_row.state == SubmissionState.READY and (open_ones or _soon(values))
    )
    return render(
        request,
        "evaluations/submission.html",
        fragment="evaluations/_submission.html",
        going=going,
        here=request.url.path,
        notice=DONE.get(done, ""),
        **values,
    )


def _soon(values: dict[str, Any]) -> bool:
    """True if its first evaluations may be about to be queued: the worker does that once it is ready."""
    ready = values["made"].ready_at
    return not values["evaluations"] and ready is not None and now() - ready < QUEUED_WITHIN
