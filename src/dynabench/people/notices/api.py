"""The choices of how you are notified, as JSON."""

from fastapi import APIRouter, Depends, Request
from starlette.responses import RedirectResponse

from dynabench.kit.errors import Conflict
from dynabench.kit.language import _
from dynabench.people.accounts.auth import Member, limited, scope
from dynabench.people.notices import hook_api, schemas, service
from dynabench.people.notices.tables import Wish

router = APIRouter(prefix="/api/v1", tags=["notices"], dependencies=[Depends(scope("account"))])
router.include_router(hook_api.HookRoutes("/me/webhooks", hook_api.own, "account").router)
NO_MAIL = _("This site sends no mail. Its operator can set that up.")


def _told(request: Request, wish: Wish) -> schemas.Wishes:
    return schemas.Wishes.of(wish, request.app.state.settings.mails)


@router.get("/me/notifications")
async def read_notifications(request: Request, person: Member) -> schemas.Wishes:
    """Return your choices of how you are notified."""
    return _told(request, await request.app.state.db.aread(service.wish_of, person.id))


@router.patch("/me/notifications")
async def change_notifications(request: Request, body: schemas.WishesIn, person: Member) -> schemas.Wishes:
    """Choose which notices take which ways. Warnings, bans and what became of webhooks are always on the page."""
    return _told(request, await request.app.state.db.awrite(service.choose, person.id, body.channels))


@router.post("/me/notifications/address", dependencies=[Depends(limited("verify mail", 5, 3600))])
async def set_address(request: Request, body: schemas.AddressIn, person: Member) -> schemas.Wishes:
    """Choose where mail goes. A link is sent there, and nothing else until it is followed; it works for two days."""
    if not request.app.state.settings.mails and body.address.strip():
        raise Conflict(NO_MAIL)
    return _told(request, await request.app.state.db.awrite(service.use_address, person.id, body.address))


@router.post("/mail/unsubscribe/{token}", status_code=204, include_in_schema=False)
async def unsubscribe_at_once(request: Request, token: str) -> None:
    """End all mail to a person, without log-in. Mail programs call this for “unsubscribe” (RFC 8058)."""
    await request.app.state.db.awrite(service.unsubscribe, request.app.state.settings.key, token)


@router.get("/mail/unsubscribe/{token}", include_in_schema=False)
async def show_unsubscribe(request: Request, token: str) -> RedirectResponse:
    """Mail programs without one-click open the same address: the page that asks."""
    return RedirectResponse(request.app.url_path_for("unsubscribe_mail", token=token), status_code=303)
