"""Is collection healthy today?"""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from dynabench.console import frame
from dynabench.console.access import Moderating
from dynabench.errors import Forbidden

router = APIRouter()


@router.get("/tasks/{task}/manage", name="manage_health")
async def health(request: Request, task: str, person: Moderating) -> Response:
    """The console's first page; moderators are sent on to the first section that is theirs."""
    if request.state.role != "owner":
        entries = frame.rail(request, task)
        if not entries:
            raise Forbidden("Only the task's owners may do this.")
        return RedirectResponse(entries[0].address, status_code=303)
    return await frame.page(request, task, "console/health.html", "health")
