"""A task's webhooks: addresses that are called when something happens in it."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from dynabench.kit.language import N_
from dynabench.people.notices import events, pages, webhooks
from dynabench.people.notices.webhooks import Holder
from dynabench.rounds.manage import frame
from dynabench.rounds.manage.frame import TaskOwner

router = APIRouter()
ABOUT = {
    "dataset.ready": N_("A dataset version was imported; models are being evaluated on it."),
    "evaluation.ended": N_("A public or anonymous model was evaluated on a dataset, or the evaluation failed."),
    "snapshot.taken": N_("The public board was frozen as a snapshot."),
    "round.opened": N_("A round is open for examples."),
    "round.closed": N_("A round was closed."),
    "round.released": N_("A round was released: its files never change."),
    "announcement.made": N_("An owner published an announcement."),
    "archive.ready": N_("A task archive is ready for its owners to download for a week."),
}
"""What `events.TASK_EVENTS` say, for their owners to choose from."""


async def hold_task(request: Request, owner: TaskOwner, task: str) -> None:
    """The task is the holder of its webhooks, for its owners."""
    request.state.holder = Holder(owner, task)


async def _list_page(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    defaults: dict[str, Any] = {"hook_errors": {}, "hook_done": "", "hook_typed": {"url": "", "events": ()}}
    defaults |= {
        "hooks": await request.app.state.db.aread(webhooks.list_webhooks, holder),
        "most": webhooks.MOST_OF_A_TASK,
    }
    defaults["wanted"] = {name: ABOUT[name] for name in events.TASK_EVENTS}
    task = str(holder.task)
    return await frame.console_page(
        request, task, "rounds/manage/webhooks.html", "webhooks", status=status, **(defaults | values)
    )


async def _hook_page(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return await frame.console_page(
        request, str(holder.task), "rounds/manage/webhook.html", "webhooks", status=status, **values
    )


@router.get("/tasks/{task}/manage/webhooks", name="manage_webhooks")
async def list_webhooks(request: Request, owner: TaskOwner, task: str) -> Response:
    """The webhooks, and a form for another."""
    return await _list_page(request, Holder(owner, task))


_pages = pages.HookPages("/tasks/{task}/manage/webhooks", "task_webhooks", hold_task, _list_page, _hook_page)
router.include_router(_pages.router)
