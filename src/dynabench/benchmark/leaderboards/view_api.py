"""The views around a board as JSON."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards import blocks, board_views, comparison, row_views, schemas
from dynabench.benchmark.leaderboards.view_pages import Discount, Name, Place, RowKind, Tag, Word, requested_plot
from dynabench.benchmark.reading import read_board
from dynabench.kit.api import Db
from dynabench.people.accounts.auth import Viewer

router = APIRouter()

Entry = Annotated[int, Query(ge=1, le=2**31 - 1, description="The number of a submission.")]
Limit = Annotated[int, Query(ge=1, le=100)]


@router.get("/tasks/{task}/compare")
async def compare_two(request: Request, db: Db, task: str, viewer: Viewer, a: Entry, b: Entry) -> schemas.ComparisonOut:
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
                "a": difference.a,
                "b": difference.b,
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
        conclusion = comparison.conclusion(first, second, primary)
        values = {"a": first, "b": second, "conclusion": conclusion, "differences": items}
        return schemas.ComparisonOut.model_validate(values)

    return await db.aread(read)


@router.get("/tasks/{task}/compare/examples")
async def compare_examples(
    request: Request, db: Db, task: str, viewer: Viewer, a: Entry, b: Entry, dataset: Word,
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
                "a": {"answer": dict(row.a.words), "right": row.a.right},
                "b": {"answer": dict(row.b.words), "right": row.b.right},
            }
            for row in page.rows
        ]
        more = None if page.next is None else str(page.next)
        values = {"dataset": dataset, "tally": asdict(page.tally), "items": items, "next": more}
        return schemas.ExamplesOut.model_validate(values)

    return await db.aread(read)


@router.get("/tasks/{task}/matrix")
async def read_matrix(
    db: Db, task: str, viewer: Viewer, metric: Word = "", discount: Discount = 0.0
) -> schemas.MatrixOut:
    """Models by rounds and datasets, of one metric; `discount` is what each older round counts less in `overall`."""

    def read(session: Session) -> schemas.MatrixOut:
        board = read_board(session, viewer, task)
        matrix = board_views.make_matrix(session, board, board.metric(metric), discount)
        items = [
            {
                "entrant": line.entrant,
                "overall": line.overall,
                "trend": line.trend,
                "cells": [
                    {"dataset": data.name, "score": cell, "vmer": line.loop.get(data.round or 0)}
                    for data, cell in zip(matrix.data, line.cells, strict=True)
                ],
            }
            for line in matrix.lines
        ]
        columns = [{"name": data.name, "title": data.title, "round": data.round} for data in matrix.data]
        values = {"metric": matrix.metric.name, "discount": discount, "datasets": columns, "items": items}
        return schemas.MatrixOut.model_validate(values)

    return await db.aread(read)


@router.get("/tasks/{task}/pareto")
async def read_pareto(
    db: Db, task: str, viewer: Viewer, x: Word = "", y: Word = "", dataset: Word = ""
) -> schemas.ParetoOut:
    """Two measures against each other, those that none beats on both first."""

    def read(session: Session) -> schemas.ParetoOut:
        plot = requested_plot(read_board(session, viewer, task), x, y, dataset)
        values = {"x": plot.x.name, "y": plot.y.name, "dataset": plot.data.name if plot.data else None}
        return schemas.ParetoOut.model_validate({**values, "items": plot.points, "left_out": plot.left_out})

    return await db.aread(read)


@router.get("/tasks/{task}/slices")
async def read_slices(db: Db, task: str, viewer: Viewer, dataset: Word, metric: Word = "") -> schemas.SlicesOut:
    """Return each model's scores on the largest slices of a dataset, such as pairs of languages."""

    def read(session: Session) -> schemas.SlicesOut:
        board = read_board(session, viewer, task)
        by_slice = board_views.compare_slices(session, board, board.dataset(dataset), metric)
        items = [
            {
                "entrant": line.entrant,
                "whole": line.whole,
                "slices": {tag: cell for tag, cell in zip(by_slice.tags, line.cells, strict=True) if cell},
            }
            for line in by_slice.lines
        ]
        values = {"metric": by_slice.metric.name, "dataset": by_slice.data.name, "others": by_slice.others}
        return schemas.SlicesOut.model_validate({**values, "slices": by_slice.tags, "items": items})

    return await db.aread(read)


@router.get("/tasks/{task}/humans")
async def read_humans(db: Db, task: str, viewer: Viewer) -> schemas.StandingsOut:
    """Human accuracy from blind answers, the gap to models, and saturation, by round."""

    def read(session: Session) -> schemas.StandingsOut:
        standings = board_views.people_and_models(session, read_board(session, viewer, task))
        items = [vars(standing) | {"dataset": standing.data.name if standing.data else None} for standing in standings]
        return schemas.StandingsOut.model_validate({"items": items})

    return await db.aread(read)


@router.get("/tasks/{task}/transfer")
async def read_transfer(request: Request, db: Db, task: str, viewer: Viewer, dataset: Word) -> schemas.TransferOut:
    """Return how many models each fooling row fools, and which models fall together.

    The dataset must not be hidden.
    """

    def read(session: Session) -> schemas.TransferOut:
        board = read_board(session, viewer, task)
        data = row_views.countable_dataset(board, dataset)
        shared = row_views.shared_errors(session, request.app.state.settings, board, data)
        if shared is None:
            return schemas.TransferOut(
                dataset=dataset, models=[], order=[], error_rates=[], shares=[], counts=[], mean=None, rows=0
            )
        models, errors = shared
        values = {
            "dataset": dataset,
            "models": models,
            "order": errors.order,
            "error_rates": errors.rates.tolist(),
            "shares": [[None if share != share else float(share) for share in row] for row in errors.shares],
            "counts": errors.counts.tolist(),
            "mean": errors.mean,
            "rows": errors.rows,
        }
        return schemas.TransferOut.model_validate(values)

    return await db.aread(read)


@router.get("/tasks/{task}/datasets/{name}/best")
async def read_best(db: Db, task: str, name: Name, viewer: Viewer, limit: Limit = 10) -> schemas.BestOut:
    """Return the best models on a dataset and its hardest slices.

    Each model says whether the data do not tell it apart from the best one.
    """

    def read(session: Session) -> schemas.BestOut:
        best = blocks.best_on_dataset(session, read_board(session, viewer, task, retired=True), name, limit)
        items = [{"entrant": leader.entrant, "score": leader.cell, "tied": leader.tied} for leader in best.leaders]
        slices = [
            {"tag": tag, "value": cell.value, "low": cell.low, "high": cell.high, "rows": cell.n}
            for tag, cell in best.slices
        ]
        values = {"dataset": name, "metric": best.metric.name, "items": items, "others": best.others, "slices": slices}
        return schemas.BestOut.model_validate(values)

    return await db.aread(read)


@router.get("/models/{name}/scores")
async def read_model_scores(db: Db, name: Name, viewer: Viewer) -> schemas.ModelScoresOut:
    """All that the entries of a model scored; anonymous ones are not linked to its name."""

    def read(session: Session) -> schemas.ModelScoresOut:
        items = []
        for entry in blocks.require_scores_of_model(session, viewer, name):
            names = {data.id: data.name for data in entry.data}
            scores: dict[str, Any] = {data.name: {} for data in entry.data}
            for (data_id, metric), cell in entry.scores.items():
                scores[names[data_id]][metric] = cell
            slices = {data.name: dict(cells) for data, cells in entry.slices}
            values = {"task": entry.board.config.id, "entrant": entry.entrant, "tries": entry.tries}
            items.append({**values, "scores": scores, "slices": slices})
        return schemas.ModelScoresOut.model_validate({"items": items})

    return await db.aread(read)
