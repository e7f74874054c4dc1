"""Pages on which you choose how you are notified, and the pages that links in mails lead to."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit.errors import Conflict, Invalid, NotFound
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts.auth import Member, limited
from dynabench.people.accounts.service import NOTICE_KINDS
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import api, mailing, service, webhooks
from dynabench.people.notices.api import NO_MAIL, SENDING, Held
from dynabench.people.notices.tables import CHANNELS, Wish
from dynabench.people.notices.webhooks import Holder
from dynabench.web import render

After = Annotated[int | None, Query(ge=1, le=2**63 - 1)]
Show = Callable[..., Awaitable[Response]]


class HookPages:
    """Routes below `prefix`, named `name_...`; `holding` sets `request.state.holder`, and turns others away.

    `list_page(request, holder, status=..., **values)` is the page with all of them,
    `hook_page(request, holder, **values)` that of a single webhook.
    """

    def __init__(self, prefix: str, name: str, holding: Callable[..., Any], list_page: Show, hook_page: Show) -> None:
        self.router, self.name, self.list_page, self.hook_page = (
            APIRouter(dependencies=[Depends(holding)]),
            name,
            list_page,
            hook_page,
        )
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
            hook = await state.db.awrite(webhooks.add_webhook, state.settings, holder, url, events)
        except (Invalid, Conflict) as problem:
            errors = problem.extra.get("fields") or {"url": problem.detail}
            typed = {"url": url, "events": events}
            return await self.list_page(request, holder, status=problem.status, hook_errors=errors, hook_typed=typed)
        return await self._page_of_hook(
            request, holder, hook.id, None, 201, secret=webhooks.webhook_secret(state.settings, hook)
        )

    async def _page_of_hook(
        self, request: Request, holder: Holder, id: int, after: int | None, status: int = 200, **values: Any
    ) -> Response:
        hook, messages, next_id = await request.app.state.db.aread(webhooks.list_deliveries, holder, id, after)
        context: dict[str, Any] = {"secret": "", "done": "", "problem": ""}
        context |= {"hook": hook, "sent": messages, "next": next_id, "after": after, "base": self._base(request)}
        return await self.hook_page(request, holder, status=status, **(context | values))

    def _base(self, request: Request) -> str:
        task = {name: value for name, value in request.path_params.items() if name == "task"}
        return str(request.app.url_path_for(f"{self.name}_add", **task))

    async def log(self, request: Request, id: RowId, holder: Held, after: After = None, done: str = "") -> Response:
        """Show the messages sent to a webhook, with each try."""
        return await self._page_of_hook(request, holder, id, after, done=done)

    async def act(self, request: Request, id: RowId, act: str, holder: Held) -> Response:
        """Test it, turn it on or off, give it another secret, or delete it."""
        state = request.app.state
        try:
            if act == "secret":
                hook = await state.db.awrite(webhooks.renew_secret, holder, id)
                return await self._page_of_hook(
                    request, holder, id, None, secret=webhooks.webhook_secret(state.settings, hook)
                )
            if act == "delete":
                await state.db.awrite(webhooks.delete_webhook, holder, id)
                return await self.list_page(request, holder, hook_done="deleted")
            if act == "test":
                await state.db.awrite(webhooks.send_test, holder, id)
            elif act in ("on", "off"):
                await state.db.awrite(webhooks.switch_webhook, holder, id, act == "on")
            else:
                raise NotFound(_("There is nothing at this address."))
        except Conflict as problem:
            return await self._page_of_hook(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{self._base(request)}/{id}?done={act}", status_code=303)

    async def again(self, request: Request, id: RowId, delivery: RowId, holder: Held) -> Response:
        """Send a message again."""
        try:
            await request.app.state.db.awrite(webhooks.send_again, holder, id, delivery)
        except Conflict as problem:
            return await self._page_of_hook(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{self._base(request)}/{id}?done=again", status_code=303)


router = APIRouter(include_in_schema=False)


async def _page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    """The settings of notifications, with what was typed and what is wrong with it."""
    state = request.app.state
    wish = await state.db.aread(service.wish_of, person.id)
    context: dict[str, Any] = {"errors": {}, "done": "", "typed": wish.address or person.email}
    context |= {"hook_errors": {}, "hook_done": "", "hook_typed": {"url": "", "events": ()}}
    context |= {
        "wish": wish,
        "kinds": NOTICE_KINDS,
        "channels": CHANNELS,
        "wants": service.wants_channel,
        "mails": state.settings.mails,
    }
    context |= {"always": service.ALWAYS_SHOWN, "hooks": await state.db.aread(webhooks.list_webhooks, Holder(person))}
    context["most"] = webhooks.MOST_OF_A_PERSON
    return render(request, "notices/settings.html", status=status, **(context | values))


async def _list_page(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return await _page(request, holder.by, status, **values)


async def _hook_page(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return render(request, "notices/webhook.html", status=status, **values)


router.include_router(HookPages("/settings/webhooks", "my_webhooks", api.own, _list_page, _hook_page).router)


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
    chosen = {kind: [channel for channel in CHANNELS if kind in form.getlist(channel)] for kind in NOTICE_KINDS}
    await request.app.state.db.awrite(service.choose_channels, person.id, chosen)
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
        await state.db.awrite(service.choose_address, person.id, address)
    except (Invalid, Conflict) as problem:
        errors = problem.extra.get("fields") or {"address": problem.detail}
        return await _page(request, person, problem.status, errors=errors, typed=address)
    return _saved(request, "asked" if address.strip() else "no-mail")


def _link_page(request: Request, template: str, wish: Wish, token: str, done: bool) -> Response:
    return render(request, template, address=mailing.mask_address(wish.address), token=token, done=done)


async def _question_page(request: Request, template: str, purpose: str, token: str) -> Response:
    """A page with one button; whatever merely looks at links in mails changes nothing."""
    state = request.app.state
    wish = await state.db.aread(service.wish_of_link, state.settings.key, purpose, token)
    return _link_page(request, template, wish, token, done=False)


async def _answer_page(request: Request, template: str, act: Callable[..., Wish], token: str) -> Response:
    """Do what the button says, and return the page that tells so."""
    state = request.app.state
    wish = await state.db.awrite(act, state.settings.key, token)
    return _link_page(request, template, wish, token, done=True)


@router.get("/mail/verify/{token}", name="verify_mail")
async def ask_verify(request: Request, token: str) -> Response:
    """Ask whether notices should come to the address."""
    return await _question_page(request, "notices/verify.html", mailing.VERIFY, token)


@router.post("/mail/verify/{token}")
async def verify(request: Request, token: str) -> Response:
    """The address is theirs."""
    return await _answer_page(request, "notices/verify.html", service.confirm_address, token)


@router.get("/mail/unsubscribe/{token}", name="unsubscribe_mail")
async def ask_unsubscribe(request: Request, token: str) -> Response:
    """Ask whether mail should end."""
    return await _question_page(request, "notices/unsubscribe.html", mailing.UNSUBSCRIBE, token)


@router.post("/mail/unsubscribe/{token}")
async def unsubscribe(request: Request, token: str) -> Response:
    """No more mail."""
    return await _answer_page(request, "notices/unsubscribe.html", service.unsubscribe, token)
