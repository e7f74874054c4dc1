"""What the viewer is to the task of a page: known before the page is made, for the tabs that only some people see."""

from typing import Any

from fastapi import Request

from dynabench.accounts.auth import Viewer
from dynabench.db import Database
from dynabench.rounds import service
from dynabench.web.pages import wants_fragment

MANAGING = ("owner", "moderator")


async def know(request: Request, viewer: Viewer) -> None:
    """Keep the viewer's role in the path's task as `request.state.role`: one probe, for pages of members alone.

    A dependency of routers of pages; parts of pages do without it.
    """
    request.state.role = None
    task: Any = request.path_params.get("task")
    if viewer is not None and task and not wants_fragment(request):
        db: Database = request.app.state.db
        request.state.role = await db.aread(service.role, viewer, task)
