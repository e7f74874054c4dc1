"""The tables of the views around a board as CSV files."""

from collections.abc import Callable

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.leaderboards import blocks, board_views, row_views
from dynabench.benchmark.leaderboards.board_views import make_matrix
from dynabench.benchmark.leaderboards.view_pages import Discount, Name, Number, Word, requested_plot
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.standings import ScoreCell
from dynabench.kit.api import Db, csv_response
from dynabench.kit.db import Database
from dynabench.people.accounts.auth import Viewer

router = APIRouter(include_in_schema=False)

Table = list[list[object]]


async def send_table(db: Database, name: str, header: list[str], read: Callable[[Session], Table]) -> Response:
    """The table as a file."""
    return csv_response(f"{name}.csv", header, await db.aread(read))


def cell_columns(cell: ScoreCell | None) -> list[object]:
    """A score, its limits and the rows behind it."""
    return [cell.value, cell.low, cell.high, cell.n] if cell else [None, None, None, None]


@router.get("/tasks/{task}/compare.csv", name="compare_file")
async def compare_file(request: Request, db: Db, task: str, viewer: Viewer, a: Number = 0, b: Number = 0) -> Response:
    """The differences of two models."""
    header = ["metric", "dataset", "a", "b", "difference", "low", "high", "test", "p", "corrected_p", "better"]

    def read(session: Session) -> Table:
        board = read_board(session, viewer, task, withdrawn=True)
        differences = row_views.compare_scores(
            session, request.app.state.settings, board, board.entrant(a), board.entrant(b)
        )
        return [
            [
                *(
                    difference.metric.name,
                    difference.data.name,
                    difference.a.value,
                    difference.b.value,
                    difference.value,
                    difference.low,
                    difference.high,
                ),
                *(difference.test, difference.p, difference.corrected, difference.better),
            ]
            for difference in differences
        ]

    return await send_table(db, "compare", header, read)


@router.get("/tasks/{task}/matrix.csv", name="matrix_file")
async def matrix_file(db: Db, task: str, viewer: Viewer, metric: Word = "", discount: Discount = 0.0) -> Response:
    """The matrix, a line for each cell."""
    header = ["model", "dataset", "round", "metric", "value", "low", "high", "n", "in_the_loop", "vmer", "overall"]

    def read(session: Session) -> Table:
        board = read_board(session, viewer, task)
        matrix = make_matrix(session, board, board.metric(metric), discount)
        rows: Table = []
        for line in matrix.lines:
            whole = line.overall.value if line.overall else None
            for data, cell in zip(matrix.data, line.cells, strict=True):
                rate = line.loop.get(data.round) if data.round is not None else None
                loop = [rate is not None, rate.value if rate else None, whole]
                rows.append([line.entrant.label, data.name, data.round, matrix.metric.name, *cell_columns(cell), *loop])
        return rows

    return await send_table(db, "matrix", header, read)


@router.get("/tasks/{task}/pareto.csv", name="pareto_file")
async def pareto_file(db: Db, task: str, viewer: Viewer, x: Word = "", y: Word = "", dataset: Word = "") -> Response:
    """The points of a plot."""
    header = ["model", *(f"{axis}{end}" for axis in "xy" for end in ("", "_low", "_high", "_n")), "dominated"]

    def read(session: Session) -> Table:
        plot = requested_plot(read_board(session, viewer, task), x, y, dataset)
        return [
            [point.entrant.label, *cell_columns(point.x), *cell_columns(point.y), point.dominated]
            for point in plot.points
        ]

    return await send_table(db, "pareto", header, read)


@router.get("/tasks/{task}/humans.csv", name="humans_file")
async def humans_file(db: Db, task: str, viewer: Viewer) -> Response:
    """People and models by round."""
    rates = [f"{name}{end}" for name in ("human", "gap", "behind") for end in ("", "_low", "_high", "_n")]
    header = ["round", "dataset", *rates, "best", "best_score", "saturation"]

    def read(session: Session) -> Table:
        rows: Table = []
        for standing in board_views.people_and_models(session, read_board(session, viewer, task)):
            rates = [
                value
                for r in (standing.human, standing.gap, standing.behind)
                for value in (r.value, r.low, r.high, r.n)
            ]
            best = [standing.best.label if standing.best else "", standing.score.value if standing.score else None]
            reached = standing.steps[-1].saturation if standing.steps else None
            rows.append([standing.round, standing.data.name if standing.data else "", *rates, *best, reached])
        return rows

    return await send_table(db, "humans", header, read)


@router.get("/tasks/{task}/transfer.csv", name="transfer_file")
async def transfer_file(request: Request, db: Db, task: str, viewer: Viewer, dataset: Word) -> Response:
    """Of what fools one model, how much fools another, for each pair."""

    def read(session: Session) -> Table:
        board = read_board(session, viewer, task)
        shared = row_views.shared_errors(
            session, request.app.state.settings, board, row_views.countable_dataset(board, dataset)
        )
        if shared is None:
            return []
        models, errors = shared
        pairs = [(i, j) for i in errors.order for j in errors.order if i != j]
        return [[models[i].label, models[j].label, errors.rates[i], errors.shares[i, j], errors.rows] for i, j in pairs]

    return await send_table(db, "transfer", ["model", "other", "error_rate", "also_fooled", "rows"], read)


@router.get("/models/{name}/scores.csv", name="model_scores_file")
async def model_scores_file(db: Db, name: Name, viewer: Viewer) -> Response:
    """All that a model scored, slices of the primary metric too."""
    header = ["task", "entry", "version", "dataset", "metric", "slice", "value", "low", "high", "n"]

    def read(session: Session) -> Table:
        rows: Table = []
        for entry in blocks.require_scores_of_model(session, viewer, name):
            names = {cell.id: cell.name for cell in entry.data}
            head = [entry.board.config.id, entry.entrant.id, entry.entrant.version]
            rows += [[*head, names[id], metric, "", *cell_columns(cell)] for (id, metric), cell in entry.scores.items()]
            primary = entry.board.primary.name
            rows += [
                [*head, data.name, primary, tag, *cell_columns(cell)]
                for data, some in entry.slices
                for tag, cell in some
            ]
        return rows

    return await send_table(db, "scores", header, read)
