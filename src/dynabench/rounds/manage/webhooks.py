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
    "dataset.ready": N_("A version of a dataset was read and stands; models are being evaluated on it."),
    "evaluation.ended": N_("A public or anonymous model was evaluated on a dataset, or could not be."),
    "snapshot.taken": N_("Somebody froze the public board."),
    "round.opened": N_("A round is open for examples."),
    "round.closed": N_("A round takes no more examples."),
    "round.released": N_("A round is released: its files never change."),
    "announcement.made": N_("An owner announced something to those who take part."),
    "archive.ready": N_("An archive of the task is ready to be fetched by its owners, for a week."),
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
