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
    result: T = await request.app.state.db.aread(function)
    return result


def entrant_json(entrant: Entrant | None) -> dict[str, Any] | None:
    """An entrant as programs see it."""
    if entrant is None:
        return None
    return {"id": entrant.id, "label": entrant.label, "model": entrant.model or None, "withdrawn": entrant.withdrawn}


def cell_json(cell: ScoreCell | None) -> dict[str, Any] | None:
    """A score as programs see it: without the replicates."""
    if cell is None:
        return None
    return {"value": cell.value, "low": cell.low, "high": cell.high, "n": cell.n}


def rate_json(rate: Rate | None) -> dict[str, Any] | None:
    """A rate as programs see it."""
    return asdict(rate) if rate else None


@router.get("/tasks/{task}/compare")
async def compare_two(request: Request, task: str, viewer: Viewer, a: Entry, b: Entry) -> schemas.ComparisonOut:
    """Two submissions side by side: paired differences of all metrics on all datasets, corrected by Holm's method."""

    def read(session: Session) -> schemas.ComparisonOut:
        board = read_board(session, viewer, task, withdrawn=True)
        first, second = board.entrant(a), board.entrant(b)
        differences = row_views.compare_scores(session, request.app.state.settings, board, first, second)
        primary = [difference for difference in differences if difference.metric == board.primary]
        items = [
            {
                "metric": difference.metric.name,
                "dataset": difference.data.name,
                "a": cell_json(difference.a),
                "b": cell_json(difference.b),
                "difference": difference.value,
                "low": difference.low,
                "high": difference.high,
                "test": difference.test or None,
                "p": difference.p,
                "corrected_p": difference.corrected,
                "better": difference.better or None,
            }
            for difference in differences
        ]
        values = {
            "a": entrant_json(first),
            "b": entrant_json(second),
            "conclusion": comparison.conclusion(first, second, primary),
        }
        return schemas.ComparisonOut.model_validate({**values, "differences": items})

    return await read_view(request, read)


@router.get("/tasks/{task}/compare/examples")
async def compare_examples(
    request: Request, task: str, viewer: Viewer, a: Entry, b: Entry, dataset: Word,
    shown: RowKind = "differ", tag: Tag = "", after: Place = -1, limit: Limit = 20,
) -> schemas.ExamplesOut:  # fmt: skip
    """Rows of a public dataset as two submissions answered them: where they `differ`, only `a` or `b` is right, both
    are `right` or `wrong`."""

    def read(session: Session) -> schemas.ExamplesOut:
        board = read_board(session, viewer, task, withdrawn=True)
        settings, data = request.app.state.settings, row_views.visible_dataset(board, dataset)
        page = row_views.compared_page(
            session, settings, board, data, board.entrant(a), board.entrant(b), shown, tag, after, limit
        )
        items = [
            {
                "uid": row.uid,
                "inputs": dict(row.inputs),
                "reference": dict(row.reference),
                "tags": list(row.tags),
                "a": _answer_json(row.a),
                "b": _answer_json(row.b),
            }
            for row in page.rows
        ]
        more = None if page.next is None else str(page.next)
        values = {"dataset": dataset, "tally": asdict(page.tally), "items": items, "next": more}
        return schemas.ExamplesOut.model_validate(values)

    return await read_view(request, read)


def _answer_json(answer: EntrantAnswer) -> dict[str, Any]:
    return {"answer": dict(answer.words), "right": answer.right}


@router.get("/tasks/{task}/matrix")
async def read_matrix(
    request: Request, task: str, viewer: Viewer, metric: Word = "", discount: Discount = 0.0
) -> schemas.MatrixOut:
    """Models by rounds and datasets, of one metric; `discount` is what each older round counts less in `overall`."""

    def read(session: Session) -> schemas.MatrixOut:
        board = read_board(session, viewer, task)
        matrix = make_matrix(session, board, board.metric(metric), discount)
        items = [
            {
                "entrant": entrant_json(line.entrant),
                "overall": cell_json(line.overall),
                "trend": cell_json(line.trend),
                "cells": [
                    {"dataset": data.name, "score": cell_json(cell), "vmer": rate_json(line.loop.get(data.round or 0))}
                    for data, cell in zip(matrix.data, line.cells, strict=True)
                ],
            }
            for line in matrix.lines
        ]  # fmt: skip
        columns = [{"name": cell.name, "title": cell.title, "round": cell.round} for cell in matrix.data]
        values = {"metric": matrix.metric.name, "discount": discount, "datasets": columns, "items": items}
        return schemas.MatrixOut.model_validate(values)

    return await read_view(request, read)


@router.get("/tasks/{task}/pareto")
async def read_pareto(
    request: Request, task: str, viewer: Viewer, x: Word = "", y: Word = "", dataset: Word = ""
) -> schemas.ParetoOut:
    """Two measures against each other, those that none beats on both first."""

    def read(session: Session) -> schemas.ParetoOut:
        plot = requested_plot(read_board(session, viewer, task), x, y, dataset)
        items = [
            {
                "entrant": entrant_json(point.entrant),
                "x": cell_json(point.x),
                "y": cell_json(point.y),
                "dominated": point.dominated,
            }
            for point in plot.points
        ]
        values = {"x": plot.x.name, "y": plot.y.name, "dataset": plot.data.name if plot.data else None}
        return schemas.ParetoOut.model_validate({**values, "items": items, "left_out": plot.left_out})

    return await read_view(request, read)


@router.get("/tasks/{task}/slices")
async def read_slices(
    request: Request, task: str, viewer: Viewer, dataset: Word, metric: Word = ""
) -> schemas.SlicesOut:
    """Return each model's scores on the largest slices of a dataset, such as pairs of languages."""

    def read(session: Session) -> schemas.SlicesOut:
        board = read_board(session, viewer, task)
        by_slice = board_views.compare_slices(session, board, board.dataset(dataset), metric)
        items = [
            {
                "entrant": entrant_json(line.entrant),
                "whole": cell_json(line.whole),
                "slices": {tag: cell_json(cell) for tag, cell in zip(by_slice.tags, line.cells, strict=True) if cell},
            }
            for line in by_slice.lines
        ]
        values = {"metric": by_slice.metric.name, "dataset": by_slice.data.name, "others": by_slice.others}
        return schemas.SlicesOut.model_validate({**values, "slices": list(by_slice.tags), "items": items})

    return await read_view(request, read)


@router.get("/tasks/{task}/humans")
async def read_humans(request: Request, task: str, viewer: Viewer) -> schemas.StandingsOut:
    """Human accuracy from blind answers, the gap to models, and saturation, by round."""

    def read(session: Session) -> schemas.StandingsOut:
        items = []
        for standing in board_views.people_and_models(session, read_board(session, viewer, task)):
            steps = [
                {
                    "entrant": entrant_json(step.entrant),
                    "at": step.at.isoformat(),
                    "score": step.score,
                    "saturation": step.saturation,
                }
                for step in standing.steps
            ]
            values = {
                "round": standing.round,
                "dataset": standing.data.name if standing.data else None,
                "human": rate_json(standing.human),
            }
            values |= {
                "gap": rate_json(standing.gap),
                "best": entrant_json(standing.best),
                "score": cell_json(standing.score),
            }
            items.append(values | {"behind": rate_json(standing.behind), "steps": steps})
        return schemas.StandingsOut.model_validate({"items": items})

    return await read_view(request, read)


@router.get("/tasks/{task}/transfer")
async def read_transfer(request: Request, task: str, viewer: Viewer, dataset: Word) -> schemas.TransferOut:
    """Return how many models each fooling row fools, and which models fall together.

    The dataset must not be hidden.
    """

    def read(session: Session) -> schemas.TransferOut:
        board = read_board(session, viewer, task)
        shared = row_views.shared_errors(
            session, request.app.state.settings, board, row_views.countable_dataset(board, dataset)
        )
        values = transfer_json(*shared) if shared else {"models": [], "order": [], "error_rates": [], "shares": []}
        nothing: dict[str, Any] = {"counts": [], "mean": None, "rows": 0, "dataset": dataset}
        return schemas.TransferOut.model_validate(nothing | values)

    return await read_view(request, read)


def transfer_json(models: tuple[Entrant, ...], transfer: Transfer) -> dict[str, Any]:
    """Return the errors that models share in the form that the API gives to programs."""
    shares = [[None if value != value else float(value) for value in row] for row in transfer.shares]
    return {
        "models": [entrant_json(model) for model in models],
        "order": list(transfer.order),
        "error_rates": transfer.rates.tolist(),
        "shares": shares,
        "counts": transfer.counts.tolist(),
        "mean": transfer.mean,
        "rows": transfer.rows,
    }


@router.get("/tasks/{task}/datasets/{name}/best")
async def read_best(request: Request, task: str, name: Name, viewer: Viewer, limit: Limit = 10) -> schemas.BestOut:
    """Return the best models on a dataset and its hardest slices.

    Each model says whether the data do not tell it apart from the best one.
    """

    def read(session: Session) -> schemas.BestOut:
        best = blocks.best_on_dataset(session, read_board(session, viewer, task, retired=True), name, limit)
        items = [
            {"entrant": entrant_json(leader.entrant), "score": cell_json(leader.cell), "tied": leader.tied}
            for leader in best.leaders
        ]
        slices = [
            {"tag": tag, "value": cell.value, "low": cell.low, "high": cell.high, "rows": cell.n}
            for tag, cell in best.slices
        ]
        values = {"dataset": name, "metric": best.metric.name, "items": items, "others": best.others, "slices": slices}
        return schemas.BestOut.model_validate(values)

    return await read_view(request, read)


@router.get("/models/{name}/scores")
async def read_model_scores(request: Request, name: Name, viewer: Viewer) -> schemas.ModelScoresOut:
    """All that the entries of a model scored; anonymous ones are not linked to its name."""

    def read(session: Session) -> schemas.ModelScoresOut:
        items = []
        for entry in blocks.require_scores_of_model(session, viewer, name):
            names = {cell.id: cell.name for cell in entry.data}
            scores: dict[str, Any] = {cell.name: {} for cell in entry.data}
            for (data, metric), cell in entry.scores.items():
                scores[names[data]][metric] = cell_json(cell)
            slices = {data.name: {tag: cell_json(cell) for tag, cell in some} for data, some in entry.slices}
            values = {"task": entry.board.config.id, "entrant": entrant_json(entry.entrant), "tries": entry.tries}
            items.append({**values, "scores": scores, "slices": slices})
        return schemas.ModelScoresOut.model_validate({"items": items})

    return await read_view(request, read)
