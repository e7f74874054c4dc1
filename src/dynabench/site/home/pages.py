"""The first page, its box to try, and the indexes of tasks and leaderboards."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from sqlalchemy.orm import Session
from starlette.responses import RedirectResponse, Response

from dynabench.benchmark.leaderboards.saturation_plot import sample_plot
from dynabench.collection import forms, overview, playing
from dynabench.collection.api import throttle
from dynabench.kit import errors
from dynabench.kit.api import csv_response
from dynabench.kit.language import _, ngettext, translate
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import people as seats
from dynabench.rounds.demo import RETRY_SECONDS, progress_of_demo
from dynabench.site.home import continuing, saturation_chart, task_index, totals, try_box
from dynabench.site.home.saturation_chart import SaturationChart
from dynabench.site.home.task_index import SORTS, TaskFilter, TaskLine
from dynabench.site.home.totals import Totals
from dynabench.web import render
from dynabench.web.filters import number, percent
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)
FRESH = 5.0  # seconds that the figures of all tasks are kept: they read whole rounds

Words = Annotated[str, Query(max_length=100)]
Word = Annotated[str, Query(max_length=20)]


BOARDS = 5  # on the first page
EXAMPLES = 3
MAX_CHARTS = 3


@dataclass(frozen=True)
class HomeFigures:
    """The part of the first page and of the indexes that all visitors share."""

    lines: list[TaskLine]
    totals: Totals
    specimens: list[dict[str, Any]]
    charts: list[SaturationChart]
    box_tasks: list[TaskLine]


def home_figures(session: Session) -> HomeFigures:
    """Read the figures that all visitors share."""
    lines = task_index.task_lines(session)
    charts = [chart for line in lines if (chart := saturation_chart.saturation_chart(line)) is not None]
    specimens = overview.specimens(session, None, EXAMPLES)
    return HomeFigures(
        lines, totals.read_totals(session, lines), specimens, charts[:MAX_CHARTS], try_box.box_tasks(session, lines)
    )


async def read_figures(request: Request, fresh: bool = False) -> HomeFigures:
    """Return the figures that all visitors share, which are a few seconds old at most."""
    return await shared_figures(request.app.state, fresh)


async def shared_figures(state: Any, fresh: bool = False) -> HomeFigures:
    """Return the figures that all visitors share, by the state of the application."""
    cached: tuple[float, HomeFigures] | None = getattr(state, "home_figures", None)
    if cached is None or fresh or time.monotonic() - cached[0] > FRESH:
        cached = state.home_figures = (time.monotonic(), await state.db.aread(home_figures))
    return cached[1]


async def read_lines(request: Request) -> list[TaskLine]:
    """Return the lines of all tasks, which are a few seconds old at most."""
    return (await read_figures(request)).lines


async def home_values(request: Request, chart: str = "") -> dict[str, Any]:
    """Return the values of the first page but for the box and what the viewer goes on with."""
    progress = await progress_of_demo(request)
    figures = await read_figures(request, fresh=progress is not None)
    chosen = next((drawing for drawing in figures.charts if drawing.task == chart), next(iter(figures.charts), None))
    return {
        "lines": figures.lines[:BOARDS],
        "total": len(figures.lines),
        "sorts": SORTS,
        "totals": figures.totals,
        "counters": counter_texts(figures.totals),
        "specimens": figures.specimens,
        "chart": chosen,
        "charts": figures.charts,
        "sample": sample_plot(),
        "box_tasks": figures.box_tasks,
        "progress": progress,
        "continuation": None,
    }


def counter_texts(counts: Totals) -> dict[str, str]:
    """Return the texts of the counters by name, as the page and its script show them."""
    votes = counts.votes / counts.verified if counts.verified else None
    rate = percent(counts.fooled / counts.with_outcome) if counts.with_outcome else ""
    playing = translate(ngettext("%(num)s person playing now", "%(num)s people playing now", counts.playing))
    return {
        "examples": number(counts.examples),
        "week_examples": translate(_("+%(n)s this week", n=number(counts.week_examples))),
        "fooled": number(counts.fooled),
        "fooled_rate": translate(_("%(share)s of attempts", share=rate)) if rate else "",
        "verified": number(counts.verified),
        "votes": translate(_("%(n)s votes per example", n=number(votes, 1))) if votes else "",
        "people": number(counts.people),
        "week_people": translate(_("%(n)s this week", n=number(counts.week_people))),
        "models": number(counts.models),
        "datasets": translate(ngettext("on %(num)s dataset", "on %(num)s datasets", counts.datasets)),
        "open": translate(ngettext("%(num)s round open", "%(num)s rounds open", counts.open_rounds)),
        "playing": playing if counts.playing else "",
    }


@router.get("/", name="home", dependencies=[Depends(seats.load_actions)])
async def home(
    request: Request, viewer: Viewer, chart: Word = "", task: Annotated[str, Query(alias="try", max_length=60)] = ""
) -> Response:
    """The claim, a box to try it, counters, boards, examples; htmx asks for the boards while the demo is set up."""
    values = await home_values(request, chart)
    tasks: Sequence[TaskLine] = values["box_tasks"]
    db = request.app.state.db
    names = [line.id for line in tasks]
    chosen_task, box = task if task in names else names[0] if names else "", None
    for name in [chosen_task, *(name for name in names if name != chosen_task)] if names else []:
        box = await db.aread(try_box.read_box, name)
        if box is not None:  # not every open round lets visitors in
            chosen_task = name
            break
    if viewer is not None:
        lines = await read_lines(request)
        values["continuation"] = await db.aread(continuing.read_continuation, viewer, lines, chosen_task)
    fragment = None if chart or task else "home/_home_boards.html"
    response = render(request, "home/home.html", fragment=fragment, **values, box=box)
    if box is None and values["progress"] and not wants_fragment(request):
        response.headers["Refresh"] = str(RETRY_SECONDS)  # nothing is written here yet, so nothing is lost
    return response


@router.get("/try", name="try_task", dependencies=[Depends(seats.load_actions)])
async def switch_task(request: Request, task: Annotated[str, Query(max_length=60)] = "") -> Response:
    """The box with another task, or with another context of the same."""
    if not wants_fragment(request):
        return RedirectResponse(f"{request.app.url_path_for('home')}?try={task}#trybox", status_code=303)
    box = await request.app.state.db.aread(try_box.read_box, task) if task else None
    if box is None:
        raise errors.NotFound(_("This task has no try box."))
    figures = await read_figures(request)
    return render(request, "home/_trybox.html", box=box, box_tasks=figures.box_tasks)


@router.post("/try", name="try_it", dependencies=[Depends(seats.load_actions)])
async def try_it(request: Request, viewer: Viewer) -> Response:
    """A try in the first page's box: asked, answered, not stored."""
    form = await request.form()
    task = str(form.get("task", ""))
    db = request.app.state.db
    box = await db.aread(try_box.read_box, task) if task else None
    if box is None:
        raise errors.NotFound(_("This task has no try box."))
    posted = forms.posted(box["config"], form)
    box = await db.aread(try_box.posted_box, task, posted.context_id)
    box |= {"values": {"input": posted.input, "answer": posted.answer}}
    throttle(request, viewer)
    try:
        draft_outcome = await playing.play(db, request.app.state.host, None, task, posted.draft(sandbox=True), "")
    except errors.Invalid as problem:
        values = await home_values(request) | {"box": box | {"errors": problem.fields}}
        response = render(request, "home/home.html", fragment="home/_trybox.html", status=422, **values)
        response.headers.update({"HX-Retarget": "#trybox", "HX-Reswap": "outerHTML"})
        return response
    tried = {"context_id": posted.context_id, "input": draft_outcome.draft.input, "answer": draft_outcome.draft.answer}
    box |= {"outcome": draft_outcome.outcome, "tried": tried}
    return render(request, "home/home.html", fragment="home/_try.html", **await home_values(request), box=box)


async def _read_filter(q: Words = "", modality: Word = "", language: Word = "", state: Word = "") -> TaskFilter:
    return TaskFilter(q, modality, language, state)


LineFilter = Annotated[TaskFilter, Depends(_read_filter)]
"""The choice of lines in the address of an index."""


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
async def leaderboards_page(request: Request, _: Viewer, by: LineFilter, sort: Word = "") -> Response:
    """The best model of each task beside people, on one axis."""
    values = index_values(await read_lines(request), by, sort)
    return render(request, "home/leaderboards.html", fragment="home/_boards.html", **values)


@router.get("/tasks", name="tasks")
async def tasks_page(request: Request, _: Viewer, by: LineFilter, sort: Word = "") -> Response:
    """All tasks, to search and to filter."""
    values = index_values(await read_lines(request), by, sort)
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
async def leaderboards_file(request: Request, by: LineFilter, sort: Word = "") -> Response:
    """The same lines as a table; shares from 0 to 1, scores in the metric's unit."""
    values = index_values(await read_lines(request), by, sort)
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
