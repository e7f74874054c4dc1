"""The public pages: the first page with its box, a task, a round, its people."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import Response

from dynabench.collection import boards, first_steps, forms, loop, overview, program_pages
from dynabench.collection.announcement_api import announced
from dynabench.collection.api import throttle
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import seats, views
from dynabench.rounds import service as rounds
from dynabench.rounds.demo_progress import RETRY_SECONDS, progress_of
from dynabench.rounds.schemas import Number
from dynabench.web import render
from dynabench.web.pages import wants_fragment

ANNOUNCED = [Depends(announced)]
router = APIRouter(include_in_schema=False, dependencies=[Depends(seats.know)])
router.include_router(program_pages.router)

FRESH = 5.0  # seconds that the first page's figures are kept: they read whole rounds
EMPTY: dict[str, Any] = {"values": {"input": {}, "answer": {}}, "errors": {}, "outcome": None, "tried": None}


async def _home(request: Request) -> dict[str, Any]:
    state = request.app.state
    kept: tuple[float, dict[str, Any]] | None = getattr(state, "home_figures", None)
    progress = await progress_of(request)
    if kept is None or time.monotonic() - kept[0] > FRESH or progress:
        kept = state.home_figures = (time.monotonic(), await state.db.aread(overview.home))
    return kept[1] | {"progress": progress}


@router.get("/", name="home")
async def home(request: Request, viewer: Viewer) -> Response:
    """The claim, a box to try it, live totals, the tasks; htmx asks for the tasks alone while the demo is set up."""
    db: Database = request.app.state.db
    box, shown = await db.aread(overview.box), await _home(request)
    new = await db.aread(first_steps.is_new, viewer) if viewer else False
    steps = first_steps.first_steps(shown["cards"], box["task"] if box else "") if new else None
    values = shown | {"box": {**EMPTY, **box} if box else None, "steps": steps}
    response = render(request, "rounds/home.html", fragment="rounds/_tasks.html", **values)
    if box is None and shown["progress"] and not wants_fragment(request):
        response.headers["Refresh"] = str(RETRY_SECONDS)  # nothing is written here yet, so nothing is lost
    return response


@router.post("/try", name="try_it")
async def try_it(request: Request, viewer: Viewer) -> Response:
    """A try in the first page's box: asked, answered, not stored."""
    form = await request.form()
    task = str(form.get("task", ""))
    db: Database = request.app.state.db
    box = await db.aread(overview.box, task) if task else None
    if box is None:
        raise errors.NotFound(_("There is no box for this task."))
    posted = forms.posted(box["config"], form)
    box = EMPTY | box | {"context_id": posted.context_id, "values": {"input": posted.input, "answer": posted.answer}}
    throttle(request, viewer)
    try:
        told = await loop.play(db, request.app.state.host, None, task, posted.draft(sandbox=True), "")
    except errors.Invalid as problem:
        response = render(
            request,
            "rounds/home.html",
            fragment="collection/_trybox.html",
            status=422,
            **await _home(request),
            box=box | {"errors": problem.fields},
        )
        response.headers.update({"HX-Retarget": "#trybox", "HX-Reswap": "outerHTML"})
        return response
    tried = {"context_id": posted.context_id, "input": told.draft.input, "answer": told.draft.answer}
    answer: dict[str, Any] = {"outcome": told.outcome, "tried": tried}
    return render(
        request,
        "rounds/home.html",
        fragment="collection/_try.html",
        **await _home(request),
        box=box | answer,
        task=task,
        config=box["config"],
        **answer,
    )


@router.get("/tasks/{task}", name="task", dependencies=ANNOUNCED)
async def task_page(request: Request, task: str, viewer: Viewer) -> Response:
    """Show the task: its description, how its rounds went, and examples that fooled the models."""
    return render(request, "rounds/task.html", **await request.app.state.db.aread(overview.task_page, task))


@router.get("/tasks/{task}/rounds/{n}", name="round", dependencies=ANNOUNCED)
async def round_page(request: Request, task: str, n: Number, viewer: Viewer) -> Response:
    """The figures of one round."""
    return render(request, "rounds/round.html", **await request.app.state.db.aread(overview.round_page, task, n))


@router.get("/tasks/{task}/people", name="people", dependencies=ANNOUNCED)
async def people(
    request: Request,
    task: str,
    viewer: Viewer,
    number: Annotated[int | None, Query(alias="round", ge=1, le=2**31 - 1)] = None,
    after: Annotated[str, Query(max_length=9)] = "",
) -> Response:
    """The people of one round."""

    def read(session: Any) -> dict[str, Any]:
        current = overview.chosen_round(session, task, number)
        return {
            "config": rounds.config_of(session, current.version_id),
            "round": views.round_out(session, current),
            "rounds": [each.number for each in overview.started(session, task)],
            "board": boards.board(session, current, viewer, boards.place_from(after)),
            "mine": boards.mine(session, viewer, current) if viewer else None,
        }

    values = await request.app.state.db.aread(read)
    return render(request, "collection/board.html", task=task, after=after, **values)
