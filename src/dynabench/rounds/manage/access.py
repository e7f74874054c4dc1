"""Access to the management of a task: dependencies of the console's handlers."""

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from dynabench.kit.db import Database
from dynabench.kit.errors import Forbidden
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.tables import Person
from dynabench.people.may import RULES, Action
from dynabench.rounds import seats, service


def _actions(session: Session, person: Person, task: str) -> frozenset[Action]:
    service.task(session, task)
    return seats.actions_in(session, person, task)


async def _known(request: Request, member: Member, task: str) -> frozenset[Action]:
    """Keep the member's actions in the path's task for the page's rail; `NotFound` where there is no such task."""
    db: Database = request.app.state.db
    request.state.actions = await db.aread(_actions, member, task)
    actions: frozenset[Action] = request.state.actions
    return actions


Known = Annotated[frozenset[Action], Depends(_known)]


async def _owning(member: Member, actions: Known) -> Person:
    if Action.MANAGE_TASK not in actions:
        raise Forbidden(RULES[Action.MANAGE_TASK].refusal)
    return member


async def _moderating(member: Member, actions: Known) -> Person:
    if Action.OPEN_CONSOLE not in actions:
        raise Forbidden(RULES[Action.OPEN_CONSOLE].refusal)
    return member


Owning = Annotated[Person, Depends(_owning)]
"""The task's owner (or an admin); everybody else is turned away."""

Moderating = Annotated[Person, Depends(_moderating)]
"""An owner or a moderator of the task; everybody else is turned away."""
