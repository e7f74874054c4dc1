"""Forms of webhooks: the same for people's own and for tasks."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from dynabench.accounts.auth import limited
from dynabench.errors import Conflict, Invalid, NotFound
from dynabench.notices import webhooks
from dynabench.notices.webhooks import Holder
from dynabench.security import RowId

After = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
Show = Callable[..., Awaitable[Response]]
SENDING = [Depends(limited("webhook", 20, 60))]


def routes(prefix: str, name: str, holding: Callable[..., Any], listed: Show, one: Show) -> APIRouter:
    """Routes below `prefix`, named `name_...`; `holding` says whose webhooks they are and who may.

    `listed(request, holder, status=..., **values)` is the page with all of them, `one(request, holder, **values)` that
    of one.
    """
    router = APIRouter(prefix=prefix)
    held = Depends(holding)

    @router.post("", name=f"{name}_add")
    async def add(
        request: Request,
        holder: Annotated[Holder, held],
        url: Annotated[str, Form()] = "",
        events: Annotated[Sequence[str], Form()] = (),
    ) -> Response:
        """Add a webhook, and show its secret this once."""
        state = request.app.state
        try:
            hook = await state.db.awrite(webhooks.add, state.settings, holder, url, events)
        except (Invalid, Conflict) as problem:
            errors = problem.extra.get("fields") or {"url": problem.detail}
            typed = {"url": url, "events": events}
            return await listed(request, holder, status=problem.status, hook_errors=errors, hook_typed=typed)
        return await shown(request, holder, hook.id, None, 201, secret=webhooks.secret(state.settings, hook))

    async def shown(
        request: Request, holder: Holder, id: int, after: int | None, status: int = 200, **values: Any
    ) -> Response:
        hook, found, following = await request.app.state.db.aread(webhooks.sent, holder, id, after)
        known: dict[str, Any] = {"secret": "", "done": "", "problem": ""}
        known |= {"hook": hook, "sent": found, "next": following, "after": after, "base": _base(request)}
        return await one(request, holder, status=status, **(known | values))

    def _base(request: Request) -> str:
        return str(
            request.app.url_path_for(f"{name}_add", **{k: v for k, v in request.path_params.items() if k == "task"})
        )

    @router.get("/{id}", name=f"{name}_log")
    async def log(
        request: Request, id: RowId, holder: Annotated[Holder, held], after: After = None, done: str = ""
    ) -> Response:
        """What was sent to a webhook, with each try."""
        return await shown(request, holder, id, after, done=done)

    @router.post("/{id}/{act}", name=f"{name}_act", dependencies=SENDING)
    async def act(request: Request, id: RowId, act: str, holder: Annotated[Holder, held]) -> Response:
        """Test it, turn it on or off, give it another secret, or delete it."""
        state = request.app.state
        try:
            if act == "secret":
                hook = await state.db.awrite(webhooks.renew, holder, id)
                return await shown(request, holder, id, None, secret=webhooks.secret(state.settings, hook))
            if act == "delete":
                await state.db.awrite(webhooks.remove, holder, id)
                return await listed(request, holder, hook_done="deleted")
            if act == "test":
                await state.db.awrite(webhooks.test, holder, id)
            elif act in ("on", "off"):
                await state.db.awrite(webhooks.switch, holder, id, act == "on")
            else:
                raise NotFound("There is nothing at this address.")
        except Conflict as problem:
            return await shown(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{_base(request)}/{id}?done={act}", status_code=303)

    @router.post("/{id}/deliveries/{delivery}/again", name=f"{name}_again", dependencies=SENDING)
    async def again(request: Request, id: RowId, delivery: RowId, holder: Annotated[Holder, held]) -> Response:
        """Send a message again."""
        try:
            await request.app.state.db.awrite(webhooks.again, holder, id, delivery)
        except Conflict as problem:
            return await shown(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{_base(request)}/{id}?done=again", status_code=303)

    return router
