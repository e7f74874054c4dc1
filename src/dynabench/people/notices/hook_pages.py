"""Forms of webhooks: the same for people's own and for tasks."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit.errors import Conflict, Invalid, NotFound
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.notices import webhooks
from dynabench.people.notices.hook_api import SENDING, Held
from dynabench.people.notices.webhooks import Holder

After = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
Show = Callable[..., Awaitable[Response]]


class HookPages:
    """Routes below `prefix`, named `name_...`; `holding` sets `request.state.holder`, and turns others away.

    `listed(request, holder, status=..., **values)` is the page with all of them, `one(request, holder, **values)` that
    of one.
    """

    def __init__(self, prefix: str, name: str, holding: Callable[..., Any], listed: Show, one: Show) -> None:
        self.router, self.name, self.listed, self.one = APIRouter(dependencies=[Depends(holding)]), name, listed, one
        again = prefix + "/{id}/deliveries/{delivery}/again"
        self.router.add_api_route(prefix, self.add, methods=["POST"], name=f"{name}_add")
        self.router.add_api_route(prefix + "/{id}", self.log, methods=["GET"], name=f"{name}_log")
        how: dict[str, Any] = {"methods": ["POST"], "dependencies": SENDING}
        self.router.add_api_route(prefix + "/{id}/{act}", self.act, name=f"{name}_act", **how)
        self.router.add_api_route(again, self.again, name=f"{name}_again", **how)

    async def add(
        self,
        request: Request,
        holder: Held,
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
            return await self.listed(request, holder, status=problem.status, hook_errors=errors, hook_typed=typed)
        return await self._shown(request, holder, hook.id, None, 201, secret=webhooks.secret(state.settings, hook))

    async def _shown(
        self, request: Request, holder: Holder, id: int, after: int | None, status: int = 200, **values: Any
    ) -> Response:
        hook, found, following = await request.app.state.db.aread(webhooks.sent, holder, id, after)
        known: dict[str, Any] = {"secret": "", "done": "", "problem": ""}
        known |= {"hook": hook, "sent": found, "next": following, "after": after, "base": self._base(request)}
        return await self.one(request, holder, status=status, **(known | values))

    def _base(self, request: Request) -> str:
        task = {name: value for name, value in request.path_params.items() if name == "task"}
        return str(request.app.url_path_for(f"{self.name}_add", **task))

    async def log(self, request: Request, id: RowId, holder: Held, after: After = None, done: str = "") -> Response:
        """Show the messages sent to a webhook, with each try."""
        return await self._shown(request, holder, id, after, done=done)

    async def act(self, request: Request, id: RowId, act: str, holder: Held) -> Response:
        """Test it, turn it on or off, give it another secret, or delete it."""
        state = request.app.state
        try:
            if act == "secret":
                hook = await state.db.awrite(webhooks.renew, holder, id)
                return await self._shown(request, holder, id, None, secret=webhooks.secret(state.settings, hook))
            if act == "delete":
                await state.db.awrite(webhooks.remove, holder, id)
                return await self.listed(request, holder, hook_done="deleted")
            if act == "test":
                await state.db.awrite(webhooks.test, holder, id)
            elif act in ("on", "off"):
                await state.db.awrite(webhooks.switch, holder, id, act == "on")
            else:
                raise NotFound(_("There is nothing at this address."))
        except Conflict as problem:
            return await self._shown(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{self._base(request)}/{id}?done={act}", status_code=303)

    async def again(self, request: Request, id: RowId, delivery: RowId, holder: Held) -> Response:
        """Send a message again."""
        try:
            await request.app.state.db.awrite(webhooks.again, holder, id, delivery)
        except Conflict as problem:
            return await self._shown(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{self._base(request)}/{id}?done=again", status_code=303)
