"""The views around a board as pages and as CSV files: two models, the matrix, a Pareto plot, people, shared errors."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.benchmark.evaluations.measures import ACCURACIES
from dynabench.benchmark.leaderboards import blocks, board_views, comparison, drawings, heat_tables, recipe, row_views
from dynabench.benchmark.leaderboards.board_views import make_matrix
from dynabench.benchmark.leaderboards.trade_off_chart import trade_off_chart
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.standings import ScoreCell, TaskBoard
from dynabench.collection import content_warning, overview
from dynabench.kit import errors
from dynabench.kit.api import Db, csv_response
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import people
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False, dependencies=[Depends(people.load_actions)])

Number = Annotated[int, Query(ge=0, le=2**31 - 1)]
Word = Annotated[str, Query(max_length=100)]
Name = Annotated[str, Path(min_length=1, max_length=100)]
Tag = Annotated[str, Query(max_length=200)]
RowKind = Literal["differ", "a", "b", "wrong", "right"]
Discount = Annotated[float, Query(ge=0, le=0.9, allow_inf_nan=False)]
Place = Annotated[int, Query(ge=-1, le=2**31 - 1)]


def head_values(session: Session, board: TaskBoard) -> dict[str, Any]:
    """Return the values that the head of a task's pages needs."""
    return {**overview.page_head(session, board.config.id), "board": board, "written": drawings}


async def render_view(
    request: Request, task: str, template: str, read: Callable[[Session], dict[str, Any]], fragment: str | None = None
) -> Response:
    """The page made of what `read` finds; where the task needs a warning, that comes first."""
    if warning := await content_warning.warn(request, task):
        return warning
    values = await request.app.state.db.aread(read)
    return render(request, template, fragment=fragment, task=task, **values)


@router.get("/tasks/{task}/compare", name="compare_scores")
async def compare_page(
    request: Request, task: str, viewer: Viewer, a: Number = 0, b: Number = 0, dataset: Word = "",
    shown: RowKind = "differ", tag: Tag = "", after: Place = -1,
) -> Response:  # fmt: skip
    """Two models: by how much they differ on each dataset, and on which rows of one of them."""
    settings = request.app.state.settings

    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task, withdrawn=True)
        values: dict[str, Any] = {"a": a, "b": b, "shown": shown, "tag": tag, "after": after, "wrong": ""}
        values |= head_values(session, board) | {"found": None, "examples": None, "data": None}
        if a and b and a != b:
            first, second = board.entrant(a), board.entrant(b)
            differences = row_views.compare_scores(session, settings, board, first, second)
            data = row_views.chosen_dataset(board, dataset, differences)
            page = (
                row_views.compared_page(session, settings, board, data, first, second, shown, tag, after)
                if data
                else None
            )
            primary = [difference for difference in differences if difference.metric == board.primary]
            values |= {
                "found": comparison.group_differences(differences),
                "conclusion": comparison.conclusion(first, second, primary),
            }
            return values | {"first": first, "second": second, "examples": page, "data": data}
        return values | {"wrong": _("Choose two different models.") if a and a == b else ""}

    return await render_view(request, task, "leaderboards/compare.html", read, "leaderboards/_compare.html")


@router.get("/tasks/{task}/matrix", name="matrix")
async def matrix_page(
    request: Request, task: str, viewer: Viewer, metric: Word = "", discount: Discount = 0.0
) -> Response:
    """Models by rounds and datasets, as a heat map."""

    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task)
        matrix = make_matrix(session, board, board.metric(metric), discount)
        people = recipe.people_by_round(session, board) if matrix.metric.name in ACCURACIES else {}
        return head_values(session, board) | {
            "matrix": matrix,
            "blocks": heat_tables.matrix_blocks(matrix, people),
            "finding": drawings.matrix_finding(matrix),
        }

    return await render_view(request, task, "leaderboards/matrix.html", read, "leaderboards/_matrix.html")


@router.get("/tasks/{task}/slices", name="slices")
async def slices_page(request: Request, task: str, viewer: Viewer, dataset: Word = "", metric: Word = "") -> Response:
    """Models by the slices of one dataset, at first the last one that has some."""

    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task)
        choices = [dataset for dataset in board.datasets if dataset.slices]
        data = board.dataset(dataset) if dataset else choices[-1] if choices else None
        by_slice = board_views.compare_slices(session, board, data, metric) if data else None
        lines, rows = heat_tables.phenomenon_rows(by_slice) if by_slice else ([], [])
        finding = heat_tables.slices_finding(by_slice.metric, lines, rows) if by_slice else ""
        values = {"choices": choices, "found": by_slice, "lines": lines, "rows": rows, "finding": finding}
        return head_values(session, board) | values

    return await render_view(request, task, "leaderboards/slices.html", read, "leaderboards/_slices.html")


@router.get("/tasks/{task}/pareto", name="pareto")
async def pareto_page(
    request: Request, task: str, viewer: Viewer, x: Word = "", y: Word = "", dataset: Word = ""
) -> Response:
    """Two measures against each other."""

    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task)
        plot = requested_plot(board, x, y, dataset)
        chart = trade_off_chart(plot, recipe.people_accuracy(session, board))
        return head_values(session, board) | {"plot": plot, "chart": chart, "finding": drawings.pareto_finding(plot)}

    return await render_view(request, task, "leaderboards/pareto.html", read, "leaderboards/_pareto.html")


def requested_plot(board: TaskBoard, x: str, y: str, dataset: str) -> board_views.Plot:
    """The plot that an address asks for: the first cost (else the second metric) by the primary metric at first."""
    rest = [metric for metric in board.metrics[1:] if metric.cost] or list(board.metrics[1:]) or [board.primary]
    across = board.metric(x) if x else rest[0]
    return board_views.make_plot(board, across, board.metric(y), board.dataset(dataset) if dataset else None)


@router.get("/tasks/{task}/humans", name="humans")
async def humans_page(request: Request, task: str, viewer: Viewer) -> Response:
    """Show the scores of people beside those of models, round by round."""

    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task)
        standings = board_views.people_and_models(session, board)
        return head_values(session, board) | {"standings": standings, "chart": drawings.saturation_chart(standings)}

    return await render_view(request, task, "leaderboards/humans.html", read)


@router.get("/tasks/{task}/transfer", name="transfer")
async def transfer_page(request: Request, task: str, viewer: Viewer, dataset: Word = "") -> Response:
    """Show the models that fall together on a dataset."""
    settings = request.app.state.settings

    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task)
        counted = [entry for entry in board.datasets if entry.disclosure.counts]
        data = row_views.countable_dataset(board, dataset) if dataset else counted[-1] if counted else None
        shared = row_views.shared_errors(session, settings, board, data) if data else None
        values = head_values(session, board) | {"counted": counted, "data": data, "found": shared}
        return values | {"chart": drawings.transfer_chart(*shared) if shared else None}

    return await render_view(request, task, "leaderboards/transfer.html", read, "leaderboards/_transfer.html")


@router.get("/models/{name}/scores", name="model_scores")
async def model_scores_page(request: Request, db: Db, name: Name, viewer: Viewer) -> Response:
    """All that a model scored, as a part of its page or a page of its own."""
    entries = await db.aread(blocks.scores_of_model, viewer, name)
    if not entries and not wants_fragment(request):
        raise errors.NotFound(_("%(name)s has no scores to show.", name=repr(name)))
    values: dict[str, Any] = {"model_name": name, "entries": entries, "written": drawings}
    return render(request, "leaderboards/model.html", fragment="leaderboards/_model.html", **values)


@router.get("/tasks/{task}/datasets/{name}/best", name="dataset_best")
async def dataset_best_page(request: Request, db: Db, task: str, name: Name, viewer: Viewer) -> Response:
    """Show the best models on a dataset, as a part of its page or as a page of its own."""

    def read(session: Session) -> dict[str, Any]:
        board = read_board(session, viewer, task, retired=True)
        return head_values(session, board) | {"best": blocks.best_on_dataset(session, board, name)}

    values = await db.aread(read)
    return render(request, "leaderboards/best.html", fragment="leaderboards/_best.html", task=task, **values)


files_router = APIRouter(include_in_schema=False)

Table = list[list[object]]


async def send_table(db: Database, name: str, header: list[str], read: Callable[[Session], Table]) -> Response:
    """The table as a file."""
    return csv_response(f"{name}.csv", header, await db.aread(read))


def cell_columns(cell: ScoreCell | None) -> list[object]:
    """A score, its limits and the rows behind it."""
    return [cell.value, cell.low, cell.high, cell.n] if cell else [None, None, None, None]


@files_router.get("/tasks/{task}/compare.csv", name="compare_file")
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


@files_router.get("/tasks/{task}/matrix.csv", name="matrix_file")
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


@files_router.get("/tasks/{task}/slices.csv", name="slices_file")
async def slices_file(db: Db, task: str, viewer: Viewer, dataset: Word, metric: Word = "") -> Response:
    """The scores on the slices of a dataset, a line for each model and slice; on all rows where no slice is named."""
    header = ["model", "dataset", "slice", "metric", "value", "low", "high", "n"]

    def read(session: Session) -> Table:
        board = read_board(session, viewer, task)
        by_slice = board_views.compare_slices(session, board, board.dataset(dataset), metric)
        return [
            [line.entrant.label, by_slice.data.name, tag, by_slice.metric.name, *cell_columns(cell)]
            for line in by_slice.lines
            for tag, cell in zip(["", *by_slice.tags], [line.whole, *line.cells], strict=True)
            if cell is not None
        ]

    return await send_table(db, "slices", header, read)


@files_router.get("/tasks/{task}/pareto.csv", name="pareto_file")
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


@files_router.get("/tasks/{task}/humans.csv", name="humans_file")
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


@files_router.get("/tasks/{task}/transfer.csv", name="transfer_file")
async def transfer_file(request: Request, db: Db, task: str, viewer: Viewer, dataset: Word) -> Response:
    """Of what fools one model, how much fools another, for each pair."""

    def read(session: Session) -> Table:
        board = read_board(session, viewer, task)
        shared = row_views.shared_errors(
            session, request.app.state.settings, board, row_views.countable_dataset(board, dataset)
        )
        if shared is None:
            return []
        models, transfer = shared
        pairs = [(i, j) for i in transfer.order for j in transfer.order if i != j]
        return [
            [models[i].label, models[j].label, transfer.rates[i], transfer.shares[i, j], transfer.rows]
            for i, j in pairs
        ]

    return await send_table(db, "transfer", ["model", "other", "error_rate", "also_fooled", "rows"], read)


@files_router.get("/models/{name}/scores.csv", name="model_scores_file")
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
