"""A task's webhooks: addresses that are called when something happens in it."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dynabench.console import frame
from dynabench.console.access import Owning
from dynabench.notices import events, hook_pages, webhooks
from dynabench.notices.webhooks import Holder

router = APIRouter()


async def holding(request: Request, owner: Owning, task: str) -> None:
    """The task is the holder of its webhooks, for its owners."""
    request.state.holder = Holder(owner, task)


async def _listed(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    known: dict[str, Any] = {"hook_errors": {}, "hook_done": "", "hook_typed": {"url": "", "events": ()}}
    known |= {"hooks": await request.app.state.db.aread(webhooks.listed, holder), "most": webhooks.MOST_OF_A_TASK}
    known["wanted"] = {name: kind.__doc__ or "" for name, kind in events.TASK_EVENTS.items()}
    task = str(holder.task)
    return await frame.page(request, task, "console/webhooks.html", "webhooks", status=status, **(known | values))


async def _one(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return await frame.page(request, str(holder.task), "console/webhook.html", "webhooks", status=status, **values)


@router.get("/tasks/{task}/manage/webhooks", name="manage_webhooks")
async def listed(request: Request, owner: Owning, task: str) -> Response:
    """The webhooks, and a form for another."""
    return await _listed(request, Holder(owner, task))


_pages = hook_pages.HookPages("/tasks/{task}/manage/webhooks", "task_webhooks", holding, _listed, _one)
router.include_router(_pages.router)
