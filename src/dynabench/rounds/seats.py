"""Keeps the viewer's actions in the task of a page, for the tabs that only some people see."""

from typing import Any

from fastapi import Request
from sqlalchemy.orm import Session

from dynabench.kit.db import Database
from dynabench.people import may
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.web.pages import wants_fragment


async def know(request: Request, viewer: Viewer) -> None:
    """Keep what the viewer may do in the path's task as `request.state.actions`: one probe, for pages of members alone.

    A dependency of routers of pages; parts of pages do without it.
    """
    request.state.actions = frozenset()
    task: Any = request.path_params.get("task")
    if viewer is not None and task and not wants_fragment(request):
        db: Database = request.app.state.db
        request.state.actions = await db.aread(actions_in, viewer, task)


def actions_in(session: Session, person: Person, task_id: str) -> frozenset[Action]:
    """Return what a person may do in a task."""
    return may.actions_of(person, may.role_of(session, person, task_id))
