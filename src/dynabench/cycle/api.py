"""Turns of the cycle as JSON: foreseen, begun, read, paused, resumed, undone; and which round follows which."""

from collections.abc import Callable
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Path, Request

from dynabench.cycle import plan as plans
from dynabench.cycle import round_steps, service, views
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.tables import CycleTurn
from dynabench.cycle.views import Foreseen, LineagePage, TurnIn, TurnOut, TurnPage
from dynabench.kit.api import After, Db, Limit
from dynabench.kit.db import Database
from dynabench.models import serving
from dynabench.people.accounts.auth import Member, limited, scope
from dynabench.people.accounts.tables import Person

router = APIRouter(prefix="/api/v1", tags=["cycle"], dependencies=[Depends(scope("manage"))])
limit = Depends(limited("cycle", 30, 60))
Id = Annotated[int, Path(ge=1, le=2**53)]


@router.get("/tasks/{task}/turns")
async def list_turns(db: Db, task: str, person: Member, after: After = None, limit: Limit = 20) -> TurnPage:
    """The turns of a task's cycle (owners), newest first."""
    return await db.aread(views.turn_page, person, task, after, limit)


@router.get("/tasks/{task}/lineage")
async def read_lineage(db: Db, task: str, person: Member) -> LineagePage:
    """Return the graph of a task's rounds, that is which round follows which (owners): rounds may fork and merge."""
    return await db.aread(views.lineage_page, person, task)


async def preview(request: Request, person: Person, task: str, plan: TurnPlan, number: int | None) -> Foreseen:
    """Preview a turn by a plan that was read already."""
    state = request.app.state
    return await state.db.aread(  # type: ignore[no-any-return]
        views.preview_turn, state.settings, person, task, plan, number
    )


@router.post("/tasks/{task}/turns/preview", dependencies=[limit])
async def preview_turn(request: Request, task: str, body: TurnIn, person: Member) -> Foreseen:
    """Preview a turn, with counts and the time that it may take (owners); nothing is changed."""
    return await preview(request, person, task, plans.read_plan(body.plan), body.round)


async def start_turn(request: Request, person: Person, task: str, plan: TurnPlan, number: int | None) -> int:
    """Start a turn and return its id."""
    db: Database = request.app.state.db
    return await db.awrite(lambda session: service.start_turn(session, person, task, plan, number).id)


@router.post("/tasks/{task}/turns", status_code=202, dependencies=[limit])
async def begin_turn(request: Request, task: str, body: TurnIn, person: Member) -> TurnOut:
    """Begin a turn, in the background (owners): the round closes and is released, the plan's candidates are trained and
    evaluated, the best is promoted by the plan's rule, the next round opens."""
    turn_id = await start_turn(request, person, task, plans.read_plan(body.plan), body.round)
    return await read_turn_out(request, person, task, turn_id)


async def read_turn_out(request: Request, person: Person, task: str, id: int) -> TurnOut:
    """Return a turn with its progress."""
    state = request.app.state
    return await to_thread.run_sync(views.turn_with_progress, state.db, state.settings, person, task, id)


@router.get("/tasks/{task}/turns/{turn}")
async def read_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """Return the state of a turn, or its result once it has ended (owners)."""
    return await read_turn_out(request, person, task, turn)


async def change_turn(
    request: Request, person: Person, task: str, id: int, action: Callable[..., CycleTurn], *arguments: Any
) -> None:
    """Pause, resume or undo a turn."""
    await request.app.state.db.awrite(lambda session: action(session, *arguments, person, task, id).id)


async def undo_promotion(request: Request, person: Person, task: str, id: int) -> None:
    """Undo a promotion, once all hosts serve the targets that the round had before it."""
    state = request.app.state
    await serving.require(state.host, await state.db.aread(round_steps.models_to_restore, person, task, id))
    await change_turn(request, person, task, id, round_steps.undo_promotion, state.settings)


@router.post("/tasks/{task}/turns/{turn}/pause", dependencies=[limit])
async def pause_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """Pause a turn (owners); no finished work is lost."""
    await change_turn(request, person, task, turn, service.pause_turn)
    return await read_turn_out(request, person, task, turn)


@router.post("/tasks/{task}/turns/{turn}/resume", dependencies=[limit])
async def resume_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """Resume a turn that was paused or failed, from the step that it had reached (owners)."""
    await change_turn(request, person, task, turn, service.resume_turn)
    return await read_turn_out(request, person, task, turn)


@router.post("/tasks/{task}/turns/{turn}/undo", dependencies=[limit])
async def undo_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """Undo a promotion (owners): a round with the earlier targets takes the place of the turn's next round."""
    await undo_promotion(request, person, task, turn)
    return await read_turn_out(request, person, task, turn)
