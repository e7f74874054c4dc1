"""Turns of the cycle as JSON: foreseen, begun, read, paused, resumed, undone; and which round follows which."""

from collections.abc import Callable
from typing import Annotated, Any

from anyio import to_thread
from fastapi import APIRouter, Depends, Path, Query, Request
from sqlalchemy.orm import Session

from dynabench.accounts.auth import Member, limited, scope
from dynabench.accounts.tables import Person
from dynabench.cycle import foresight, opening, service, views
from dynabench.cycle import plan as plans
from dynabench.cycle.foresight import Foreseen
from dynabench.cycle.plan import Plan
from dynabench.cycle.schemas import LineagePage, TurnIn, TurnOut, TurnPage
from dynabench.cycle.tables import CycleTurn
from dynabench.models import serving

router = APIRouter(prefix="/api/v1", tags=["cycle"], dependencies=[Depends(scope("manage"))])
limit = Depends(limited("cycle", 30, 60))
Id = Annotated[int, Path(ge=1, le=2**53)]
After = Annotated[int | None, Query(ge=1, le=2**53, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=100)]


@router.get("/tasks/{task}/turns")
async def list_turns(request: Request, task: str, person: Member, after: After = None, limit: Limit = 20) -> TurnPage:
    """The turns of a task's cycle (owners), newest first."""
    return await request.app.state.db.aread(views.page, person, task, after, limit)  # type: ignore[no-any-return]


@router.get("/tasks/{task}/lineage")
async def read_lineage(request: Request, task: str, person: Member) -> LineagePage:
    """Which rounds of a task follow which (owners): rounds may fork and merge."""
    return await request.app.state.db.aread(views.graph, person, task)  # type: ignore[no-any-return]


async def foresee(request: Request, person: Person, task: str, plan: Plan, number: int | None) -> Foreseen:
    """What a turn would do."""
    state = request.app.state
    return await state.db.aread(  # type: ignore[no-any-return]
        foresight.foresee, state.settings, person, task, plan, number
    )


@router.post("/tasks/{task}/turns/preview", dependencies=[limit])
async def preview_turn(request: Request, task: str, body: TurnIn, person: Member) -> Foreseen:
    """What a turn would do, with counts and the time it may take (owners); nothing is changed."""
    return await foresee(request, person, task, plans.read(body.plan), body.round)


async def begin(request: Request, person: Person, task: str, plan: Plan, number: int | None) -> int:
    """Ask for a turn; its id."""

    def make(session: Session) -> int:
        return service.start(session, person, task, plan, number).id

    return await request.app.state.db.awrite(make)  # type: ignore[no-any-return]


@router.post("/tasks/{task}/turns", status_code=202, dependencies=[limit])
async def begin_turn(request: Request, task: str, body: TurnIn, person: Member) -> TurnOut:
    """Begin a turn, in the background (owners): the round closes and is released, the plan's candidates are trained and
    evaluated, the best is promoted by the plan's rule, the next round opens."""
    made = await begin(request, person, task, plans.read(body.plan), body.round)
    return await one(request, person, task, made)


async def one(request: Request, person: Person, task: str, id: int) -> TurnOut:
    """A turn with its progress."""
    state = request.app.state
    return await to_thread.run_sync(views.one, state.db, state.settings, person, task, id)


@router.get("/tasks/{task}/turns/{turn}")
async def read_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """How a turn goes, or what came of it (owners)."""
    return await one(request, person, task, turn)


async def change(
    request: Request, person: Person, task: str, id: int, how: Callable[..., CycleTurn], *more: Any
) -> None:
    """Pause, resume or undo a turn."""
    await request.app.state.db.awrite(lambda session: how(session, *more, person, task, id).id)


async def undo(request: Request, person: Person, task: str, id: int) -> None:
    """Take a promotion back, once all hosts serve the targets of before."""
    state = request.app.state
    await serving.require(state.host, await state.db.aread(opening.models_to_restore, person, task, id))
    await change(request, person, task, id, opening.undo, state.settings)


@router.post("/tasks/{task}/turns/{turn}/pause", dependencies=[limit])
async def pause_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """Let a turn rest (owners); nothing that is done gets lost."""
    await change(request, person, task, turn, service.pause)
    return await one(request, person, task, turn)


@router.post("/tasks/{task}/turns/{turn}/resume", dependencies=[limit])
async def resume_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """Let a turn go on that was paused or failed, from where it was (owners)."""
    await change(request, person, task, turn, service.resume)
    return await one(request, person, task, turn)


@router.post("/tasks/{task}/turns/{turn}/undo", dependencies=[limit])
async def undo_turn(request: Request, task: str, turn: Id, person: Member) -> TurnOut:
    """Take a promotion back (owners): a round with the targets of before takes the place of the turn's next round."""
    await undo(request, person, task, turn)
    return await one(request, person, task, turn)
