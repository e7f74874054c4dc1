"""The cycle of a task: a turn by a form, foreseen, begun, watched, paused, undone; and which round follows which."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.datastructures import FormData
from starlette.responses import Response

from dynabench.cycle import api, queries, service, views
from dynabench.cycle import plan as plans
from dynabench.cycle.api import Id
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.tables import TurnState
from dynabench.cycle.views import preview_sentences
from dynabench.kit import errors
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner

router = APIRouter()
BLANK: dict[str, Any] = {
    "methods": ["lora"], "seeds": "0", "discount": "0", "by": "recency", "older": "0", "surely": True, "most": "1",
    "with_present": False, "open": True, "ensemble": "any", "parents": "", "round": "", "anyway": False,
}  # fmt: skip
FIELDS = {
    "candidates": "methods",
    "train.discount": "discount",
    "promote.by": "by",
    "promote.discount": "older",
    "promote.most": "most",
    "next.ensemble": "ensemble",
    "next.parents": "parents",
}
"""Which field of the form a problem of the plan stands beside."""


def read_form(form: FormData) -> dict[str, Any]:
    """Return the posted values in the form in which the page shows them again."""
    texts = {name: str(form.get(name, BLANK[name])).strip()[:200] for name in BLANK if isinstance(BLANK[name], str)}
    checks = {name: bool(form.get(name)) for name in BLANK if isinstance(BLANK[name], bool)}
    return {**texts, **checks, "methods": [str(method)[:10] for method in form.getlist("methods")][:8]}


def plan_of(posted: dict[str, Any]) -> tuple[TurnPlan, int | None]:
    """The plan that a form describes, and the round that it begins with. Raises `Invalid` by the form's fields."""
    if not posted["methods"]:
        raise errors.Invalid({"methods": _("Choose at least one way to train.")})
    seeds = _numbers(posted["seeds"], "seeds")
    document = {
        "candidates": [{"name": method, "method": method, "seeds": seeds} for method in posted["methods"]],
        "train": {"discount": posted["discount"] or 0},
        "promote": {
            "by": posted["by"],
            "discount": posted["older"] or 0,
            "surely": posted["surely"],
            "most": posted["most"] or 1,
            "with_present": posted["with_present"],
        },
        "next": {
            "open": posted["open"],
            "ensemble": posted["ensemble"],
            "parents": _numbers(posted["parents"], "parents") if posted["parents"] else [],
        },
        "anyway": posted["anyway"],
    }
    try:
        number = int(posted["round"]) if posted["round"] else None
    except ValueError:
        raise errors.Invalid({"round": _("Enter the number of a round.")}) from None
    try:
        return plans.read_plan(document), number
    except errors.Invalid as problem:
        raise _beside(problem) from None


def _numbers(text: str, name: str) -> list[int]:
    try:
        return [int(number) for number in text.replace(",", " ").split()]
    except ValueError:
        raise errors.Invalid({name: _("Enter whole numbers, separated by commas.")}) from None


def _beside(problem: errors.Invalid) -> errors.Invalid:
    """The same with the names that the form's fields have."""
    messages = {}
    for path, message in problem.fields.items():
        name = next((field for start, field in FIELDS.items() if path.startswith(start)), path)
        messages["seeds" if ".seeds" in path else name] = message
    return errors.Invalid(messages)


async def _page(request: Request, owner: Person, task: str, status: int = 200, **more: Any) -> Response:
    def look(session: Session) -> dict[str, Any]:
        turns = views.turn_page(session, owner, task).items
        going = bool(turns) and turns[0].state in (*queries.RUNNING_STATES, TurnState.PAUSED)
        graph = views.lineage_page(session, owner, task).items
        config = rounds.newest_config(session, task)
        fit = {"unfit": service.unfit_reason(config), "ways": service.training_methods(config)}
        return {"turns": turns, "going": going, "graph": graph, **fit}

    values = await request.app.state.db.aread(look)
    context: dict[str, Any] = {"posted": BLANK, "errors": {}, "problem": "", "foreseen": None, "sentences": []}
    return await frame.console_page(
        request, task, "cycle/manage/cycle.html", "cycle", status=status, **(context | values | more)
    )


@router.get("/tasks/{task}/manage/cycle", name="manage_cycle")
async def cycle(request: Request, task: str, owner: TaskOwner) -> Response:
    """The turns so far, a form for the next, and the graph of rounds."""
    return await _page(request, owner, task)


@router.post("/tasks/{task}/manage/cycle", name="begin_turn_form", dependencies=[api.limit])
async def begin(request: Request, task: str, owner: TaskOwner) -> Response:
    """Say what a turn would do, or (`then` = begin) begin it."""
    form = await request.form()
    posted = read_form(form)
    try:
        plan, number = plan_of(posted)
        if form.get("then") == "begin":
            return _to(request, task, await api.start_turn(request, owner, task, plan, number))
        preview = await api.preview(request, owner, task, plan, number)
    except errors.Invalid as problem:
        return await _page(request, owner, task, 422, posted=posted, errors=_beside(problem).fields)
    except errors.Conflict as problem:
        return await _page(request, owner, task, 409, posted=posted, problem=problem.detail)
    return await _page(request, owner, task, posted=posted, foreseen=preview, sentences=preview_sentences(preview))


def _to(request: Request, task: str, turn: int) -> Response:
    return redirect(request, "manage_turn", task=task, turn=turn)


async def _turn(
    request: Request, owner: Person, task: str, turn: int, status: int = 200, problem: str = ""
) -> Response:
    turn_view = await api.read_turn_out(request, owner, task, turn)
    values = {"turn": turn_view, "steps": service.STEPS, "problem": problem, "sure": status == 422}
    return await frame.console_page(
        request, task, "cycle/manage/turn.html", "cycle", status=status, fragment="cycle/manage/_turn.html", **values
    )


@router.get("/tasks/{task}/manage/cycle/{turn}", name="manage_turn")
async def show(request: Request, task: str, turn: Id, owner: TaskOwner) -> Response:
    """Show the progress of a turn, or its report."""
    return await _turn(request, owner, task, turn)


@router.post("/tasks/{task}/manage/cycle/{turn}/pause", name="pause_turn_form")
async def pause(request: Request, task: str, turn: Id, owner: TaskOwner) -> Response:
    """Let it rest."""
    await api.change_turn(request, owner, task, turn, service.pause_turn)
    return _to(request, task, turn)


@router.post("/tasks/{task}/manage/cycle/{turn}/resume", name="resume_turn_form")
async def resume(request: Request, task: str, turn: Id, owner: TaskOwner) -> Response:
    """Let it go on."""
    await api.change_turn(request, owner, task, turn, service.resume_turn)
    return _to(request, task, turn)


@router.post("/tasks/{task}/manage/cycle/{turn}/undo", name="undo_turn_form")
async def undo(request: Request, task: str, turn: Id, owner: TaskOwner) -> Response:
    """Take its promotion back, once the owner has confirmed it."""
    form = await request.form()
    if not form.get("sure"):
        return await _turn(request, owner, task, turn, 422, _("Tick the box to confirm."))
    try:
        await api.undo_promotion(request, owner, task, turn)
    except (errors.Conflict, errors.Unavailable) as problem:
        return await _turn(request, owner, task, turn, problem.status, problem.detail)
    return _to(request, task, turn)
