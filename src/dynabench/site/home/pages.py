"""The indexes of tasks and leaderboards."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from dynabench.kit.api import csv_response
from dynabench.site.home import task_index
from dynabench.site.home.task_index import SORTS, TaskFilter, TaskLine
from dynabench.web import render

router = APIRouter(include_in_schema=False)
FRESH = 5.0  # seconds that the figures of all tasks are kept: they read whole rounds

Words = Annotated[str, Query(max_length=100)]
Word = Annotated[str, Query(max_length=20)]


async def read_lines(request: Request) -> list[TaskLine]:
    """Return the lines of all tasks, which are a few seconds old at most."""
    state = request.app.state
    cached: tuple[float, list[TaskLine]] | None = getattr(state, "task_lines", None)
    if cached is None or time.monotonic() - cached[0] > FRESH:
        cached = state.task_lines = (time.monotonic(), await state.db.aread(task_index.task_lines))
    return cached[1]


def index_values(lines: list[TaskLine], by: TaskFilter, sort: str) -> dict[str, Any]:
    """Return the values that the template of an index needs."""
    order = sort if sort in SORTS else "active"
    return {
        "lines": task_index.sort_lines(filter(by.takes, lines), order),
        "total": len(lines),
        "by": by,
        "sort": order,
        "sorts": SORTS,
        "facets": task_index.facets(lines),
    }


@router.get("/leaderboards", name="leaderboards")
async def leaderboards_page(
    request: Request, q: Words = "", modality: Word = "", language: Word = "", state: Word = "", sort: Word = ""
) -> Response:
    """The best model of each task beside people, on one axis."""
    values = index_values(await read_lines(request), TaskFilter(q, modality, language, state), sort)
    return render(request, "home/leaderboards.html", fragment="home/_boards.html", **values)


@router.get("/tasks", name="tasks")
async def tasks_page(
    request: Request, q: Words = "", modality: Word = "", language: Word = "", state: Word = "", sort: Word = ""
) -> Response:
    """All tasks, to search and to filter."""
    values = index_values(await read_lines(request), TaskFilter(q, modality, language, state), sort)
    return render(request, "home/tasks.html", fragment="home/_tasks.html", **values)


HEADER = (
    *(
        "task",
        "name",
        "open_round",
        "rounds",
        "examples",
        "examples_7_days",
        "to_check",
        "vmer",
        "vmer_low",
        "vmer_high",
    ),
    *("metric", "models", "best_model", "score", "score_low", "score_high", "n", "people", "people_answers"),
)


@router.get("/leaderboards.csv", name="leaderboards_csv")
async def leaderboards_file(
    request: Request, q: Words = "", modality: Word = "", language: Word = "", state: Word = "", sort: Word = ""
) -> Response:
    """The same lines as a table; shares from 0 to 1, scores in the metric's unit."""
    values = index_values(await read_lines(request), TaskFilter(q, modality, language, state), sort)
    return csv_response("leaderboards.csv", HEADER, map(csv_row, values["lines"]))


def csv_row(line: TaskLine) -> list[object]:
    """Return a line as cells of `HEADER`."""
    vmer = line.history[-1][1] if line.history else None
    rate = [vmer.value, vmer.low, vmer.high] if vmer else [None] * 3
    counts = [line.round, line.rounds, line.examples, line.recent, line.waiting]
    best = line.board.best
    score = [best.score.value, best.score.low, best.score.high, best.rows] if best else [None] * 4
    people = [line.human.value, line.human.n] if line.human.n else [None, None]
    name = best.entrant.name if best else None
    return [line.id, line.name, *counts, *rate, line.board.metric.name, line.board.models, name, *score, *people]
