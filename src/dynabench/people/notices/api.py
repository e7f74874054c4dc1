"""The choices of how you are notified, as JSON."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse

from dynabench.kit.api import After, AppSettings, Db, Limit
from dynabench.kit.errors import Conflict
from dynabench.kit.forms import redirect
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, limited, needs, scope
from dynabench.people.notices import schemas, service, webhooks
from dynabench.people.notices.webhooks import Holder

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

    async def list_webhooks(self, db: Db, holder: Held) -> schemas.HookList:
        """The webhooks, each with its latest call."""
        rows = await db.aread(webhooks.list_webhooks, holder)
        return schemas.HookList(items=[schemas.HookOut.of(*row) for row in rows])

    async def add_webhook(self, db: Db, settings: AppSettings, body: schemas.HookIn, holder: Held) -> schemas.NewHook:
        """A new webhook; its secret is shown this once."""
        hook = await db.awrite(webhooks.add_webhook, settings, holder, body.url, body.events)
        return schemas.NewHook.of(hook, secret=webhooks.webhook_secret(settings, hook))

    async def change_webhook(self, db: Db, id: RowId, body: schemas.HookChange, holder: Held) -> schemas.HookOut:
        """Turn it on or off."""
        return schemas.HookOut.of(await db.awrite(webhooks.switch_webhook, holder, id, body.on))

    async def renew_secret(self, db: Db, settings: AppSettings, id: RowId, holder: Held) -> schemas.NewHook:
        """Another secret, shown this once; the old one is used no more."""
        hook = await db.awrite(webhooks.renew_secret, holder, id)
        return schemas.NewHook.of(hook, secret=webhooks.webhook_secret(settings, hook))

    async def test_webhook(self, db: Db, id: RowId, holder: Held) -> schemas.DeliveryOut:
        """Send a test message, once."""
        delivery = await db.awrite(webhooks.send_test, holder, id)
        return schemas.DeliveryOut.of(webhooks.SentMessage(delivery, ()))

    async def list_deliveries(
        self, db: Db, id: RowId, holder: Held, after: After = None, limit: Limit = 25
    ) -> schemas.DeliveryPage:
        """Return the messages sent in the last 30 days, newest first, with each call."""
        _, messages, next_id = await db.aread(webhooks.list_deliveries, holder, id, after, limit)
        items = [schemas.DeliveryOut.of(message) for message in messages]
        return schemas.DeliveryPage(items=items, next=str(next_id) if next_id else None)

    async def send_again(self, db: Db, id: RowId, delivery: RowId, holder: Held) -> schemas.DeliveryOut:
        """Send a message again, under the same id."""
        resent = await db.awrite(webhooks.send_again, holder, id, delivery)
        return schemas.DeliveryOut.of(webhooks.SentMessage(resent, ()))

    async def delete_webhook(self, db: Db, id: RowId, holder: Held) -> None:
        """Delete it, with what was sent to it."""
        await db.awrite(webhooks.delete_webhook, holder, id)


router = APIRouter(prefix="/api/v1", tags=["notices"], dependencies=[Depends(scope("account"))])
router.include_router(HookRoutes("/me/webhooks", own, "account").router)
NO_MAIL = _("This site does not send email. Its operator can set it up.")


@router.get("/me/notifications")
async def read_notifications(db: Db, settings: AppSettings, person: Member) -> schemas.Wishes:
    """Return your choices of how you are notified."""
    return schemas.Wishes.of(await db.aread(service.wish_of, person.id), settings.mails)


@router.patch("/me/notifications")
async def change_notifications(db: Db, settings: AppSettings, body: schemas.WishesIn, person: Member) -> schemas.Wishes:
    """Choose which notices take which ways. Warnings, bans and what became of webhooks are always on the page."""
    return schemas.Wishes.of(await db.awrite(service.choose_channels, person.id, body.channels), settings.mails)


@router.post("/me/notifications/address", dependencies=[Depends(limited("verify mail", 5, 3600))])
async def set_address(db: Db, settings: AppSettings, body: schemas.AddressIn, person: Member) -> schemas.Wishes:
    """Choose where mail goes. A link is sent there, and nothing else until it is followed; it works for two days."""
    if not settings.mails and body.address.strip():
        raise Conflict(NO_MAIL)
    return schemas.Wishes.of(await db.awrite(service.choose_address, person.id, body.address), settings.mails)


@router.post("/mail/unsubscribe/{token}", status_code=204, include_in_schema=False)
async def unsubscribe_at_once(db: Db, settings: AppSettings, token: str) -> None:
    """End all mail to a person, without log-in. Mail programs call this for “unsubscribe” (RFC 8058)."""
    await db.awrite(service.unsubscribe, settings.key, token)


@router.get("/mail/unsubscribe/{token}", include_in_schema=False)
async def show_unsubscribe(request: Request, token: str) -> RedirectResponse:
    """Mail programs without one-click open the same address: the page that asks."""
    return redirect(request, "unsubscribe_mail", token=token)
