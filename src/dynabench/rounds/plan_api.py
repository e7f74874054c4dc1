"""Plans of rounds as JSON, for the owners of their tasks."""

from typing import Any

from fastapi import APIRouter, Request
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member
from dynabench.people.may import Action
from dynabench.rounds import plan_schemas, planning, queries, schemas, service, views
from dynabench.rounds.plan import Plan
from dynabench.rounds.schemas import Number
from dynabench.rounds.tables import Round

router = APIRouter()


async def _changed(request: Request, change: Any, *how: Any) -> schemas.RoundOut:
    """The round after `change(session, ...)`."""
    db: Database = request.app.state.db
    return await db.awrite(lambda session: views.round_out(session, change(session, *how)))


@router.put("/tasks/{task}/rounds/{n}/plan")
async def plan_round(request: Request, task: str, n: Number, body: Plan, person: Member) -> schemas.RoundOut:
    """Give a draft or an open round this plan in place of its own (owners)."""
    return await _changed(request, planning.change, person, task, n, body)


@router.post("/tasks/{task}/rounds/{n}/plan/undo")
async def take_plan_back(request: Request, task: str, n: Number, person: Member) -> schemas.RoundOut:
    """Give a round the plan that it had before the last change (owners); done twice, the change is there again."""
    return await _changed(request, planning.undo, person, task, n)


@router.post("/tasks/{task}/rounds/{n}/clone", status_code=201)
async def copy_round(
    request: Request, task: str, n: Number, person: Member, body: plan_schemas.RoundCloneIn | None = None
) -> schemas.RoundOut:
    """A new draft with the targets of this round, on the task's newest config (owners); dates are not carried over."""
    return await _changed(request, planning.clone, person, task, n, (body or plan_schemas.RoundCloneIn()).parts)


@router.delete("/tasks/{task}/rounds/{n}", status_code=204)
async def remove_round(request: Request, task: str, n: Number, person: Member) -> Response:
    """Throw a draft away (owners)."""
    db: Database = request.app.state.db
    await db.awrite(planning.discard, person, task, n)
    return Response(status_code=204)


def _owned(session: Session, person: Member, task: str, n: int) -> Round:
    service.require(session, person, Action.PLAN_ROUND, task)
    return service.round_of(session, task, n)


def _chosen(session: Session, of: Round) -> plan_schemas.ChosenOut:
    return plan_schemas.ChosenOut(contexts=list(session.scalars(queries.chosen(of.id))))


def _named(session: Session, of: Round) -> plan_schemas.NamedOut:
    return plan_schemas.NamedOut(people=[each.username for each in session.scalars(queries.named_for(of.id))])


@router.get("/tasks/{task}/rounds/{n}/contexts")
async def list_chosen(request: Request, task: str, n: Number, person: Member) -> plan_schemas.ChosenOut:
    """The few contexts that were chosen for a round (owners); none where it works on all of the task's."""
    db: Database = request.app.state.db
    return await db.aread(lambda session: _chosen(session, _owned(session, person, task, n)))


@router.put("/tasks/{task}/rounds/{n}/contexts")
async def put_chosen(
    request: Request, task: str, n: Number, body: plan_schemas.ChosenIn, person: Member
) -> plan_schemas.ChosenOut:
    """Let a round work on these few contexts, on those of another round, or with an empty list on all (owners)."""
    if (body.contexts is None) == (body.from_round is None):
        raise errors.Invalid({"contexts": _("Give either `contexts` or `from_round`.")})

    def write(session: Session) -> plan_schemas.ChosenOut:
        if body.from_round is not None:
            return _chosen(session, planning.take_over(session, person, task, n, body.from_round))
        return _chosen(session, planning.choose(session, person, task, n, body.contexts or []))

    db: Database = request.app.state.db
    return await db.awrite(write)


@router.get("/tasks/{task}/rounds/{n}/people")
async def list_named(request: Request, task: str, n: Number, person: Member) -> plan_schemas.NamedOut:
    """Return the people who may take part in a round for invited people (owners)."""
    db: Database = request.app.state.db
    return await db.aread(lambda session: _named(session, _owned(session, person, task, n)))


@router.put("/tasks/{task}/rounds/{n}/people")
async def put_named(
    request: Request, task: str, n: Number, body: plan_schemas.NamedIn, person: Member
) -> plan_schemas.NamedOut:
    """Name who may take part in a round for invited people (owners), in place of those who were or who have come."""
    db: Database = request.app.state.db
    return await db.awrite(lambda session: _named(session, planning.name(session, person, task, n, body.people)))
