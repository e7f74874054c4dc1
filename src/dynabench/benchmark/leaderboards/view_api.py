"""The views around a board as JSON."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards import blocks, board_views, comparison, row_views, schemas
from dynabench.benchmark.leaderboards.board_views import make_matrix
from dynabench.benchmark.leaderboards.row_views import EntrantAnswer, Transfer
from dynabench.benchmark.leaderboards.view_pages import Discount, Name, Place, RowKind, Tag, Word, requested_plot
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.standings import Entrant, ScoreCell
from dynabench.people.accounts.auth import Viewer
from dynabench.stats.rates import Rate

router = APIRouter()

Entry = Annotated[int, Query(ge=1, le=2**31 - 1, description="The number of a submission.")]
Limit = Annotated[int, Query(ge=1, le=100)]
T = TypeVar("T")


async def read_view(request: Request, function: Callable[[Session], T]) -> T:
    """Return the result of `function`, run in a session that reads the database."""
    found: T = await request.app.state.db.aread(function)
    return found


def entrant_json(of: Entrant | None) -> dict[str, Any] | None:
    """An entrant as programs see it."""
    if of is None:
        return None
    return {"id": of.id, "label": of.label, "model": of.model or None, "withdrawn": of.withdrawn}


def cell_json(of: ScoreCell | None) -> dict[str, Any] | None:
    """A score as programs see it: without the replicates."""
    if of is None:
        return None
    return {"value": of.value, "low": of.low, "high": of.high, "n": of.n}


def rate_json(of: Rate | None) -> dict[str, Any] | None:
    """A rate as programs see it."""
    return asdict(of) if of else None


@router.get("/tasks/{task}/compare")
async def compare_two(request: Request, task: str, viewer: Viewer, a: Entry, b: Entry) -> schemas.ComparisonOut:
    """Two submissions side by side: paired differences of all metrics on all datasets, corrected by Holm's method."""

    def made(session: Session) -> schemas.ComparisonOut:
        board = read_board(session, viewer, task, withdrawn=True)
        first, second = board.entrant(a), board.entrant(b)
        found = row_views.compare_scores(session, request.app.state.settings, board, first, second)
        primary = [each for each in found if each.metric == board.primary]
        items = [
            {
                "metric": each.metric.name,
                "dataset": each.data.name,
                "a": cell_json(each.a),
                "b": cell_json(each.b),
                "difference": each.value,
                "low": each.low,
                "high": each.high,
                "test": each.test or None,
                "p": each.p,
                "corrected_p": each.corrected,
                "better": each.better or None,
            }
            for each in found
        ]
        told = {
            "a": entrant_json(first),
            "b": entrant_json(second),
            "conclusion": comparison.conclusion(first, second, primary),
        }
        return schemas.ComparisonOut.model_validate({**told, "differences": items})

    return await read_view(request, made)


@router.get("/tasks/{task}/compare/examples")
async def compare_examples(
    request: Request, task: str, viewer: Viewer, a: Entry, b: Entry, dataset: Word,
    shown: RowKind = "differ", tag: Tag = "", after: Place = -1, limit: Limit = 20,
) -> schemas.ExamplesOut:  # fmt: skip
    """Rows of a public dataset as two submissions answered them: where they `differ`, only `a` or `b` is right, both
    are `right` or `wrong`."""

    def made(session: Session) -> schemas.ExamplesOut:
        board = read_board(session, viewer, task, withdrawn=True)
        settings, data = request.app.state.settings, row_views.visible_dataset(board, dataset)
        page = row_views.compared_page(
            session, settings, board, data, board.entrant(a), board.entrant(b), shown, tag, after, limit
        )
        items = [
            {
                "uid": each.uid,
                "inputs": dict(each.inputs),
                "reference": dict(each.reference),
                "tags": list(each.tags),
                "a": _answer_json(each.a),
                "b": _answer_json(each.b),
            }
            for each in page.rows
        ]
        more = None if page.next is None else str(page.next)
        told = {"dataset": dataset, "tally": asdict(page.tally), "items": items, "next": more}
        return schemas.ExamplesOut.model_validate(told)

    return await read_view(request, made)


def _answer_json(of: EntrantAnswer) -> dict[str, Any]:
    return {"answer": dict(of.words), "right": of.right}


@router.get("/tasks/{task}/matrix")
async def read_matrix(
    request: Request, task: str, viewer: Viewer, metric: Word = "", discount: Discount = 0.0
) -> schemas.MatrixOut:
    """Models by rounds and datasets, of one metric; `discount` is what each older round counts less in `overall`."""

    def made(session: Session) -> schemas.MatrixOut:
        board = read_board(session, viewer, task)
        found = make_matrix(session, board, board.metric(metric), discount)
        items = [
            {
                "entrant": entrant_json(line.entrant),
                "overall": cell_json(line.overall),
                "trend": cell_json(line.trend),
                "cells": [
                    {"dataset": data.name, "score": cell_json(each), "vmer": rate_json(line.loop.get(data.round or 0))}
                    for data, each in zip(found.data, line.cells, strict=True)
                ],
            }
            for line in found.lines
        ]  # fmt: skip
        columns = [{"name": each.name, "title": each.title, "round": each.round} for each in found.data]
        told = {"metric": found.metric.name, "discount": discount, "datasets": columns, "items": items}
        return schemas.MatrixOut.model_validate(told)

    return await read_view(request, made)


@router.get("/tasks/{task}/pareto")
async def read_pareto(
    request: Request, task: str, viewer: Viewer, x: Word = "", y: Word = "", dataset: Word = ""
) -> schemas.ParetoOut:
    """Two measures against each other, those that none beats on both first."""

    def made(session: Session) -> schemas.ParetoOut:
        found = requested_plot(read_board(session, viewer, task), x, y, dataset)
        items = [
            {
                "entrant": entrant_json(each.entrant),
                "x": cell_json(each.x),
                "y": cell_json(each.y),
                "dominated": each.dominated,
            }
            for each in found.points
        ]
        told = {"x": found.x.name, "y": found.y.name, "dataset": found.data.name if found.data else None}
        return schemas.ParetoOut.model_validate({**told, "items": items, "left_out": found.left_out})

    return await read_view(request, made)


@router.get("/tasks/{task}/slices")
async def read_slices(
    request: Request, task: str, viewer: Viewer, dataset: Word, metric: Word = ""
) -> schemas.SlicesOut:
    """Return each model's scores on the largest slices of a dataset, such as pairs of languages."""

    def made(session: Session) -> schemas.SlicesOut:
        board = read_board(session, viewer, task)
        found = board_views.compare_slices(session, board, board.dataset(dataset), metric)
        items = [
            {
                "entrant": entrant_json(line.entrant),
                "whole": cell_json(line.whole),
                "slices": {tag: cell_json(one) for tag, one in zip(found.tags, line.cells, strict=True) if one},
            }
            for line in found.lines
        ]
        told = {"metric": found.metric.name, "dataset": found.data.name, "others": found.others}
        return schemas.SlicesOut.model_validate({**told, "slices": list(found.tags), "items": items})

    return await read_view(request, made)


@router.get("/tasks/{task}/humans")
async def read_humans(request: Request, task: str, viewer: Viewer) -> schemas.StandingsOut:
    """Human accuracy from blind answers, the gap to models, and saturation, by round."""

    def made(session: Session) -> schemas.StandingsOut:
        items = []
        for each in board_views.people_and_models(session, read_board(session, viewer, task)):
            steps = [
                {
                    "entrant": entrant_json(one.entrant),
                    "at": one.at.isoformat(),
                    "score": one.score,
                    "saturation": one.saturation,
                }
                for one in each.steps
            ]
            told = {
                "round": each.round,
                "dataset": each.data.name if each.data else None,
                "human": rate_json(each.human),
            }
            told |= {"gap": rate_json(each.gap), "best": entrant_json(each.best), "score": cell_json(each.score)}
            items.append(told | {"behind": rate_json(each.behind), "steps": steps})
        return schemas.StandingsOut.model_validate({"items": items})

    return await read_view(request, made)


@router.get("/tasks/{task}/transfer")
async def read_transfer(request: Request, task: str, viewer: Viewer, dataset: Word) -> schemas.TransferOut:
    """Return how many models each fooling row fools, and which models fall together.

    The dataset must not be hidden.
    """

    def made(session: Session) -> schemas.TransferOut:
        board = read_board(session, viewer, task)
        found = row_views.shared_errors(
            session, request.app.state.settings, board, row_views.countable_dataset(board, dataset)
        )
        told = transfer_json(*found) if found else {"models": [], "order": [], "error_rates": [], "shares": []}
        nothing: dict[str, Any] = {"counts": [], "mean": None, "rows": 0, "dataset": dataset}
        return schemas.TransferOut.model_validate(nothing | told)

    return await read_view(request, made)


def transfer_json(models: tuple[Entrant, ...], of: Transfer) -> dict[str, Any]:
    """Return the errors that models share in the form that the API gives to programs."""
    shares = [[None if value != value else float(value) for value in row] for row in of.shares]
    return {
        "models": [entrant_json(each) for each in models],
        "order": list(of.order),
        "error_rates": of.rates.tolist(),
        "shares": shares,
        "counts": of.counts.tolist(),
        "mean": of.mean,
        "rows": of.rows,
    }


@router.get("/tasks/{task}/datasets/{name}/best")
async def read_best(request: Request, task: str, name: Name, viewer: Viewer, limit: Limit = 10) -> schemas.BestOut:
    """Return the best models on a dataset and its hardest slices.

    Each model says whether the data do not tell it apart from the best one.
    """

    def made(session: Session) -> schemas.BestOut:
        best = blocks.best_on_dataset(session, read_board(session, viewer, task, retired=True), name, limit)
        items = [
            {"entrant": entrant_json(each.entrant), "score": cell_json(each.cell), "tied": each.tied}
            for each in best.leaders
        ]
        slices = [
            {"tag": tag, "value": of.value, "low": of.low, "high": of.high, "rows": of.n} for tag, of in best.slices
        ]
        told = {"dataset": name, "metric": best.metric.name, "items": items, "others": best.others, "slices": slices}
        return schemas.BestOut.model_validate(told)

    return await read_view(request, made)


@router.get("/models/{name}/scores")
async def read_model_scores(request: Request, name: Name, viewer: Viewer) -> schemas.ModelScoresOut:
    """All that the entries of a model scored; anonymous ones are not linked to its name."""

    def made(session: Session) -> schemas.ModelScoresOut:
        items = []
        for each in blocks.require_scores_of_model(session, viewer, name):
            names = {one.id: one.name for one in each.data}
            scores: dict[str, Any] = {one.name: {} for one in each.data}
            for (data, metric), one in each.scores.items():
                scores[names[data]][metric] = cell_json(one)
            slices = {data.name: {tag: cell_json(one) for tag, one in some} for data, some in each.slices}
            told = {"task": each.board.config.id, "entrant": entrant_json(each.entrant), "tries": each.tries}
            items.append({**told, "scores": scores, "slices": slices})
        return schemas.ModelScoresOut.model_validate({"items": items})

    return await read_view(request, made)
