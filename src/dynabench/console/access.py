"""Who may run a task: dependencies of the console's handlers."""

from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy.orm import Session

from dynabench.accounts.auth import Member
from dynabench.accounts.tables import Person
from dynabench.db import Database
from dynabench.errors import Forbidden
from dynabench.language import _
from dynabench.rounds import service
from dynabench.rounds.seats import MANAGING


def _role(session: Session, person: Person, task: str) -> str | None:
    service.task(session, task)
    return service.role(session, person, task)


async def _known(request: Request, member: Member, task: str) -> str | None:
    """The member's role in the path's task, kept for the page's rail; `NotFound` where there is no such task."""
    db: Database = request.app.state.db
    request.state.role = await db.aread(_role, member, task)
    role: str | None = request.state.role
    return role


Known = Annotated[str | None, Depends(_known)]


async def _owning(member: Member, role: Known) -> Person:
    if role != "owner":
        raise Forbidden(_("Only the task's owners may do this."))
    return member


async def _moderating(member: Member, role: Known) -> Person:
    if role not in MANAGING:
        raise Forbidden(_("Only the task's owners and moderators may do this."))
    return member


Owning = Annotated[Person, Depends(_owning)]
"""The task's owner (or an admin); everybody else is turned away."""

Moderating = Annotated[Person, Depends(_moderating)]
"""An owner or a moderator of the task; everybody else is turned away."""
