"""The page that stands before the contents of tasks that need a warning, until one has accepted it.

The acceptance is a cookie per task and per wording, kept for 30 days; programs at the API are not asked.
"""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit import security
from dynabench.kit.api import Db, set_cookie
from dynabench.kit.forms import safe_next
from dynabench.people.accounts.auth import Viewer
from dynabench.rounds import service as rounds
from dynabench.tasks import TaskConfig
from dynabench.web import render

router = APIRouter(include_in_schema=False)

DAYS = 30


def accepted(request: Request, task: str, config: TaskConfig) -> bool:
    """Return whether the user of this browser has accepted the warning in its present wording.

    True where the task has no warning.
    """
    cookie = request.cookies.get(security.cookie_name(request.app.state.settings, _cookie(task)))
    return not config.content_warning or cookie == _wording(config)


async def warn(request: Request, task: str) -> Response | None:
    """The warning in place of the page that was asked for; None where the page may be shown."""
    config = await request.app.state.db.aread(rounds.task_config, task)
    if accepted(request, task, config):
        return None
    here = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    response = render(request, "collection/warning.html", task=task, config=config, next=here, days=DAYS)
    response.headers["Cache-Control"] = "no-store"  # going back must not show it again
    return response


@router.post("/tasks/{task}/warning", name="accept_warning")
async def accept(request: Request, db: Db, task: str, viewer: Viewer, next: Annotated[str, Form()] = "/") -> Response:
    """Remember that the warning was read, and go on to the page."""
    config = await db.aread(rounds.task_config, task)
    response = RedirectResponse(safe_next(next), status_code=303)
    set_cookie(request, response, _cookie(task), _wording(config), DAYS * 24 * 3600)
    return response


def _cookie(task: str) -> str:
    return f"dynabench_warning_{task}"


def _wording(config: TaskConfig) -> str:
    return security.digest(config.content_warning)[:16]
