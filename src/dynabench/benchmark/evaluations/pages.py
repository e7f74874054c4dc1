"""One evaluation as a page: how it goes, by itself until it is over, then scores, slices and rows. And the key."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.evaluations import records, row_results, service
from dynabench.benchmark.evaluations.api import After, Id, score_fields
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import Person
from dynabench.rounds import seats
from dynabench.rounds import service as rounds
from dynabench.web import render

router = APIRouter(include_in_schema=False)
ROWS = 20
"""Rows of results on a page."""


@router.get("/evaluations/{id}", name="evaluation", dependencies=[Depends(seats.know)])
async def evaluation(
    request: Request,
    id: Id,
    viewer: Viewer,
    after: After = None,
    wrong: bool = False,
    tag: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Show an evaluation; htmx reloads its first part while the evaluation goes on."""
    db: Database = request.app.state.db
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
            page = row_results.result_page(session, settings, viewer, id, after, ROWS, wrong, tag)
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
