"""Pages on which you choose how you are notified, and the pages that links in mails lead to."""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit.errors import Conflict, Invalid
from dynabench.people.accounts.auth import Member, limited
from dynabench.people.accounts.notices import KINDS
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import hook_api, hook_pages, links, service, webhooks
from dynabench.people.notices.api import NO_MAIL
from dynabench.people.notices.tables import CHANNELS, Wish
from dynabench.people.notices.webhooks import Holder
from dynabench.web import render

router = APIRouter(include_in_schema=False)


async def _page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    """The settings of notifications, with what was typed and what is wrong with it."""
    state = request.app.state
    wish = await state.db.aread(service.wish_of, person.id)
    known: dict[str, Any] = {"errors": {}, "done": "", "typed": wish.address or person.email}
    known |= {"hook_errors": {}, "hook_done": "", "hook_typed": {"url": "", "events": ()}}
    known |= {"wish": wish, "kinds": KINDS, "channels": CHANNELS, "wants": service.wants, "mails": state.settings.mails}
    known |= {"always": service.ALWAYS_SHOWN, "hooks": await state.db.aread(webhooks.listed, Holder(person))}
    known["most"] = webhooks.MOST_OF_A_PERSON
    return render(request, "notices/settings.html", status=status, **(known | values))


async def _listed(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return await _page(request, holder.by, status, **values)


async def _one(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return render(request, "notices/webhook.html", status=status, **values)


router.include_router(hook_pages.HookPages("/settings/webhooks", "my_webhooks", hook_api.own, _listed, _one).router)


@router.get("/settings/notifications", name="notifications")
async def notifications(request: Request, person: Member, done: str = "") -> Response:
    """Mail, webhooks, and which notices take which way."""
    return await _page(request, person, done=done)


def _saved(request: Request, done: str) -> Response:
    return RedirectResponse(f"{request.app.url_path_for('notifications')}?done={done}", status_code=303)


@router.post("/settings/notifications", name="choose_notifications")
async def choose(request: Request, person: Member) -> Response:
    """Keep which notices take which way: fields such as `mail` hold the kinds that take it."""
    form = await request.form()
    chosen = {kind: [each for each in CHANNELS if kind in form.getlist(each)] for kind in KINDS}
    await request.app.state.db.awrite(service.choose, person.id, chosen)
    return _saved(request, "choices")


@router.post(
    "/settings/notifications/address", name="choose_address", dependencies=[Depends(limited("verify mail", 5, 3600))]
)
async def choose_address(request: Request, person: Member, address: Annotated[str, Form()] = "") -> Response:
    """Ask an address whether it is the person's; an empty one ends all mail."""
    state = request.app.state
    try:
        if address.strip() and not state.settings.mails:
            raise Conflict(NO_MAIL)
        await state.db.awrite(service.use_address, person.id, address)
    except (Invalid, Conflict) as problem:
        errors = problem.extra.get("fields") or {"address": problem.detail}
        return await _page(request, person, problem.status, errors=errors, typed=address)
    return _saved(request, "asked" if address.strip() else "no-mail")


def _answered(request: Request, template: str, wish: Wish, token: str, done: bool) -> Response:
    return render(request, template, address=links.masked(wish.address), token=token, done=done)


async def _asked(request: Request, template: str, purpose: str, token: str) -> Response:
    """A page with one button; whatever merely looks at links in mails changes nothing."""
    state = request.app.state
    wish = await state.db.aread(service.addressed, state.settings.key, purpose, token)
    return _answered(request, template, wish, token, done=False)


async def _done(request: Request, template: str, act: Callable[..., Wish], token: str) -> Response:
    """Do what the button says, and return the page that tells so."""
    state = request.app.state
    wish = await state.db.awrite(act, state.settings.key, token)
    return _answered(request, template, wish, token, done=True)


@router.get("/mail/verify/{token}", name="verify_mail")
async def ask_verify(request: Request, token: str) -> Response:
    """Ask whether notices should come to the address."""
    return await _asked(request, "notices/verify.html", links.VERIFY, token)


@router.post("/mail/verify/{token}")
async def verify(request: Request, token: str) -> Response:
    """The address is theirs."""
    return await _done(request, "notices/verify.html", service.confirm, token)


@router.get("/mail/unsubscribe/{token}", name="unsubscribe_mail")
async def ask_unsubscribe(request: Request, token: str) -> Response:
    """Ask whether mail should end."""
    return await _asked(request, "notices/unsubscribe.html", links.UNSUBSCRIBE, token)


@router.post("/mail/unsubscribe/{token}")
async def unsubscribe(request: Request, token: str) -> Response:
    """No more mail."""
    return await _done(request, "notices/unsubscribe.html", service.unsubscribe, token)
