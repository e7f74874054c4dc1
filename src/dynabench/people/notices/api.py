"""The choices of how you are notified, as JSON."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import RedirectResponse

from dynabench.kit.errors import Conflict
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, limited, needs, scope
from dynabench.people.notices import schemas, service, webhooks
from dynabench.people.notices.tables import Wish
from dynabench.people.notices.webhooks import Holder

After = Annotated[int | None, Query(ge=1, le=2**63 - 1, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=100)]
SENDING = [Depends(limited("webhook", 20, 60))]


async def own(request: Request, member: Member) -> None:
    """The member is the holder of their own webhooks."""
    request.state.holder = Holder(member)


async def _held(request: Request) -> Holder:
    holder: Holder = request.state.holder
    return holder


Held = Annotated[Holder, Depends(_held)]
"""Whose webhooks a route is about: what the router's own dependency, such as `own`, found."""


class HookRoutes:
    """Routes below `prefix`; `holding` is the dependency that sets `request.state.holder`, and turns others away."""

    def __init__(self, prefix: str, holding: Callable[..., Any], scope: str) -> None:
        self.router, self.scope = APIRouter(prefix=prefix, dependencies=[Depends(holding)]), scope
        self._add("GET", "", self.list_webhooks)
        self._add("POST", "", self.add_webhook, status_code=201)
        self._add("PATCH", "/{id}", self.change_webhook)
        self._add("POST", "/{id}/secret", self.renew_secret)
        self._add("POST", "/{id}/test", self.test_webhook, status_code=202, dependencies=SENDING)
        self._add("GET", "/{id}/deliveries", self.list_deliveries)
        again = "/{id}/deliveries/{delivery}/again"
        self._add("POST", again, self.send_again, status_code=202, dependencies=SENDING)
        self._add("DELETE", "/{id}", self.delete_webhook, status_code=204)

    def _add(self, method: str, path: str, handler: Callable[..., Any], **how: Any) -> None:
        self.router.add_api_route(path, needs(self.scope)(handler), methods=[method], **how)

    async def list_webhooks(self, request: Request, holder: Held) -> schemas.HookList:
        """The webhooks, each with its latest call."""
        rows = await request.app.state.db.aread(webhooks.list_webhooks, holder)
        return schemas.HookList(items=[schemas.HookOut.of(*row) for row in rows])

    async def add_webhook(self, request: Request, body: schemas.HookIn, holder: Held) -> schemas.NewHook:
        """A new webhook; its secret is shown this once."""
        state = request.app.state
        hook = await state.db.awrite(webhooks.add_webhook, state.settings, holder, body.url, body.events)
        return schemas.new_hook(hook, webhooks.webhook_secret(state.settings, hook))

    async def change_webhook(
        self, request: Request, id: RowId, body: schemas.HookChange, holder: Held
    ) -> schemas.HookOut:
        """Turn it on or off."""
        return schemas.HookOut.of(await request.app.state.db.awrite(webhooks.switch_webhook, holder, id, body.on))

    async def renew_secret(self, request: Request, id: RowId, holder: Held) -> schemas.NewHook:
        """Another secret, shown this once; the old one is used no more."""
        state = request.app.state
        hook = await state.db.awrite(webhooks.renew_secret, holder, id)
        return schemas.new_hook(hook, webhooks.webhook_secret(state.settings, hook))

    async def test_webhook(self, request: Request, id: RowId, holder: Held) -> schemas.DeliveryOut:
        """Send a test message, once."""
        sent_message = await request.app.state.db.awrite(webhooks.send_test, holder, id)
        return schemas.DeliveryOut.of(webhooks.SentMessage(sent_message, ()))

    async def list_deliveries(
        self, request: Request, id: RowId, holder: Held, after: After = None, limit: Limit = 25
    ) -> schemas.DeliveryPage:
        """Return the messages sent in the last 30 days, newest first, with each call."""
        _, messages, next_id = await request.app.state.db.aread(webhooks.list_deliveries, holder, id, after, limit)
        return schemas.DeliveryPage.of(messages, next_id)

    async def send_again(self, request: Request, id: RowId, delivery: RowId, holder: Held) -> schemas.DeliveryOut:
        """Send a message again, under the same id."""
        sent_message = await request.app.state.db.awrite(webhooks.send_again, holder, id, delivery)
        return schemas.DeliveryOut.of(webhooks.SentMessage(sent_message, ()))

    async def delete_webhook(self, request: Request, id: RowId, holder: Held) -> None:
        """Delete it, with what was sent to it."""
        await request.app.state.db.awrite(webhooks.delete_webhook, holder, id)


router = APIRouter(prefix="/api/v1", tags=["notices"], dependencies=[Depends(scope("account"))])
router.include_router(HookRoutes("/me/webhooks", own, "account").router)
NO_MAIL = _("This site sends no mail. Its operator can set that up.")


def _wishes_of(request: Request, wish: Wish) -> schemas.Wishes:
    return schemas.Wishes.of(wish, request.app.state.settings.mails)


@router.get("/me/notifications")
async def read_notifications(request: Request, person: Member) -> schemas.Wishes:
    """Return your choices of how you are notified."""
    return _wishes_of(request, await request.app.state.db.aread(service.wish_of, person.id))


@router.patch("/me/notifications")
async def change_notifications(request: Request, body: schemas.WishesIn, person: Member) -> schemas.Wishes:
    """Choose which notices take which ways. Warnings, bans and what became of webhooks are always on the page."""
    return _wishes_of(request, await request.app.state.db.awrite(service.choose_channels, person.id, body.channels))


@router.post("/me/notifications/address", dependencies=[Depends(limited("verify mail", 5, 3600))])
async def set_address(request: Request, body: schemas.AddressIn, person: Member) -> schemas.Wishes:
    """Choose where mail goes. A link is sent there, and nothing else until it is followed; it works for two days."""
    if not request.app.state.settings.mails and body.address.strip():
        raise Conflict(NO_MAIL)
    return _wishes_of(request, await request.app.state.db.awrite(service.choose_address, person.id, body.address))


@router.post("/mail/unsubscribe/{token}", status_code=204, include_in_schema=False)
async def unsubscribe_at_once(request: Request, token: str) -> None:
    """End all mail to a person, without log-in. Mail programs call this for “unsubscribe” (RFC 8058)."""
    await request.app.state.db.awrite(service.unsubscribe, request.app.state.settings.key, token)


@router.get("/mail/unsubscribe/{token}", include_in_schema=False)
async def show_unsubscribe(request: Request, token: str) -> RedirectResponse:
    """Mail programs without one-click open the same address: the page that asks."""
    return RedirectResponse(request.app.url_path_for("unsubscribe_mail", token=token), status_code=303)
