"""Webhooks as JSON: the same routes for people's own and for tasks."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from dynabench.accounts.auth import Member, limited, needs
from dynabench.notices import schemas, webhooks
from dynabench.notices.webhooks import Holder
from dynabench.security import RowId

After = Annotated[int | None, Query(ge=1, le=2**63 - 1, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=100)]
SENDING = [Depends(limited("webhook", 20, 60))]


async def own(member: Member) -> Holder:
    """The member as the holder of their own webhooks."""
    return Holder(member)


def routes(prefix: str, holding: Callable[..., Any], scope: str) -> APIRouter:
    """Routes below `prefix`; `holding` is the dependency that says whose webhooks they are and who may."""
    router = APIRouter(prefix=prefix)
    held = Depends(holding)

    @router.get("")
    @needs(scope)
    async def list_webhooks(request: Request, holder: Annotated[Holder, held]) -> schemas.HookList:
        """The webhooks, each with its latest call."""
        rows = await request.app.state.db.aread(webhooks.listed, holder)
        return schemas.HookList(items=[schemas.HookOut.of(*row) for row in rows])

    @router.post("", status_code=201)
    @needs(scope)
    async def add_webhook(request: Request, body: schemas.HookIn, holder: Annotated[Holder, held]) -> schemas.NewHook:
        """A new webhook; its secret is shown this once."""
        state = request.app.state
        hook = await state.db.awrite(webhooks.add, state.settings, holder, body.url, body.events)
        return schemas.new_hook(hook, webhooks.secret(state.settings, hook))

    @router.patch("/{id}")
    @needs(scope)
    async def change_webhook(
        request: Request, id: RowId, body: schemas.HookChange, holder: Annotated[Holder, held]
    ) -> schemas.HookOut:
        """Turn it on or off."""
        return schemas.HookOut.of(await request.app.state.db.awrite(webhooks.switch, holder, id, body.on))

    @router.post("/{id}/secret")
    @needs(scope)
    async def renew_secret(request: Request, id: RowId, holder: Annotated[Holder, held]) -> schemas.NewHook:
        """Another secret, shown this once; the old one is used no more."""
        state = request.app.state
        hook = await state.db.awrite(webhooks.renew, holder, id)
        return schemas.new_hook(hook, webhooks.secret(state.settings, hook))

    @router.post("/{id}/test", status_code=202, dependencies=SENDING)
    @needs(scope)
    async def test_webhook(request: Request, id: RowId, holder: Annotated[Holder, held]) -> schemas.DeliveryOut:
        """Send a test message, once."""
        made = await request.app.state.db.awrite(webhooks.test, holder, id)
        return schemas.DeliveryOut.of(webhooks.Sent(made, ()))

    @router.get("/{id}/deliveries")
    @needs(scope)
    async def list_deliveries(
        request: Request, id: RowId, holder: Annotated[Holder, held], after: After = None, limit: Limit = 25
    ) -> schemas.DeliveryPage:
        """What was sent in the last 30 days, newest first, with each call."""
        _, found, following = await request.app.state.db.aread(webhooks.sent, holder, id, after, limit)
        return schemas.DeliveryPage.of(found, following)

    @router.post("/{id}/deliveries/{delivery}/again", status_code=202, dependencies=SENDING)
    @needs(scope)
    async def send_again(
        request: Request, id: RowId, delivery: RowId, holder: Annotated[Holder, held]
    ) -> schemas.DeliveryOut:
        """Send a message again, under the same id."""
        made = await request.app.state.db.awrite(webhooks.again, holder, id, delivery)
        return schemas.DeliveryOut.of(webhooks.Sent(made, ()))

    @router.delete("/{id}", status_code=204)
    @needs(scope)
    async def delete_webhook(request: Request, id: RowId, holder: Annotated[Holder, held]) -> None:
        """Delete it, with what was sent to it."""
        await request.app.state.db.awrite(webhooks.remove, holder, id)

    return router
