"""Pages on which you choose how you are notified, and the pages that links in mails lead to."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit.api import After, AppSettings, Db
from dynabench.kit.errors import Conflict, Invalid, NotFound
from dynabench.kit.forms import Text, Texts, field_errors, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.security import RowId
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.people.accounts.service import NOTICE_KINDS
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import api, mailing, service, webhooks
from dynabench.people.notices.api import NO_MAIL, SENDING, Held
from dynabench.people.notices.tables import CHANNELS, Wish
from dynabench.people.notices.webhooks import Holder
from dynabench.web import render

Word = Annotated[str, Query(max_length=20)]
Before = Annotated[int, Query(ge=0, le=2**53)]
KIND_NAMES = {
    "submission": _("Submission checked"),
    "evaluation": _("Evaluation finished"),
    "dataset": _("Dataset imported"),
    "warning": _("Warning"),
    "ban": _("Ban"),
    "lifted": _("Ban lifted"),
    "webhook": _("Webhook turned off"),
    "proposal": _("Proposed tasks"),
    "announcement": _("Announcements of owners"),
    "badge": _("Badges that you earn"),
    "appeal": _("Appeals"),
    "payment": _("Payments to you"),
    "controls": _("Validators below the threshold"),
    "archive": _("Task archive"),
    "repository": _("Your repositories and pull requests"),
}
Show = Callable[..., Awaitable[Response]]


class HookPages:
    """Routes below `prefix`, named `name_...`; `holding` sets `request.state.holder`, and turns others away.

    `list_page(request, holder, status=..., **values)` is the page with all of them,
    `hook_page(request, holder, **values)` that of a single webhook.
    """

    def __init__(self, prefix: str, name: str, holding: Callable[..., Any], list_page: Show, hook_page: Show) -> None:
        self.router, self.name = APIRouter(dependencies=[Depends(holding)]), name
        self.list_page, self.hook_page = list_page, hook_page
        again = prefix + "/{id}/deliveries/{delivery}/again"
        self.router.add_api_route(prefix, self.add, methods=["POST"], name=f"{name}_add")
        self.router.add_api_route(prefix + "/{id}", self.log, methods=["GET"], name=f"{name}_log")
        how: dict[str, Any] = {"methods": ["POST"], "dependencies": SENDING}
        self.router.add_api_route(prefix + "/{id}/{act}", self.act, name=f"{name}_act", **how)
        self.router.add_api_route(again, self.again, name=f"{name}_again", **how)

    async def add(
        self, request: Request, db: Db, settings: AppSettings, holder: Held, url: Text = "", events: Texts = ()
    ) -> Response:
        """Add a webhook, and show its secret this once."""
        try:
            hook = await db.awrite(webhooks.add_webhook, settings, holder, url, events)
        except (Invalid, Conflict) as problem:
            values = {"hook_errors": field_errors(problem, "url"), "hook_typed": {"url": url, "events": events}}
            return await self.list_page(request, holder, status=problem.status, **values)
        secret = webhooks.webhook_secret(settings, hook)
        return await self._page_of_hook(request, holder, hook.id, None, 201, secret=secret)

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

    async def act(self, request: Request, db: Db, settings: AppSettings, id: RowId, act: str, holder: Held) -> Response:
        """Test it, turn it on or off, give it another secret, or delete it."""
        try:
            if act == "secret":
                secret = webhooks.webhook_secret(settings, await db.awrite(webhooks.renew_secret, holder, id))
                return await self._page_of_hook(request, holder, id, None, secret=secret)
            if act == "delete":
                await db.awrite(webhooks.delete_webhook, holder, id)
                return await self.list_page(request, holder, hook_done="deleted")
            if act == "test":
                await db.awrite(webhooks.send_test, holder, id)
            elif act in ("on", "off"):
                await db.awrite(webhooks.switch_webhook, holder, id, act == "on")
            else:
                raise NotFound(_("This webhook does not exist."))
        except Conflict as problem:
            return await self._page_of_hook(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{self._base(request)}/{id}?done={act}", status_code=303)

    async def again(self, request: Request, db: Db, id: RowId, delivery: RowId, holder: Held) -> Response:
        """Send a message again."""
        try:
            await db.awrite(webhooks.send_again, holder, id, delivery)
        except Conflict as problem:
            return await self._page_of_hook(request, holder, id, None, problem.status, problem=problem.detail)
        return RedirectResponse(f"{self._base(request)}/{id}?done=again", status_code=303)


router = APIRouter(include_in_schema=False)


async def _page(request: Request, person: Person, status: int = 200, **values: Any) -> Response:
    """The settings of notifications, with what was typed and what is wrong with it."""
    state = request.app.state
    wish = await state.db.aread(service.wish_of, person.id)
    context: dict[str, Any] = {
        "errors": {}, "done": "", "typed": wish.address or person.email,
        "hook_errors": {}, "hook_done": "", "hook_typed": {"url": "", "events": ()},
        "wish": wish, "kinds": NOTICE_KINDS, "names": KIND_NAMES,
        "channels": [channel for channel in CHANNELS if channel != "mail" or state.settings.mails],
        "wants": service.wants_channel,
        "mails": state.settings.mails, "always": service.ALWAYS_SHOWN, "most": webhooks.MOST_OF_A_PERSON,
        "account": person.email if person.email_confirmed_at else "",
        "hooks": await state.db.aread(webhooks.list_webhooks, Holder(person)),
    }  # fmt: skip
    return render(request, "notices/settings.html", status=status, **(context | values))


async def _list_page(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return await _page(request, holder.by, status, **values)


async def _hook_page(request: Request, holder: Holder, status: int = 200, **values: Any) -> Response:
    return render(request, "notices/webhook.html", status=status, **values)


router.include_router(HookPages("/settings/webhooks", "my_webhooks", api.own, _list_page, _hook_page).router)


INBOX_PAGE = 30


@router.get("/inbox", name="inbox")
async def inbox(
    request: Request, db: Db, person: Member, kind: Word = "", show: Word = "", before: Before = 0
) -> Response:
    """The person's notices, newest first; `show=unread` leaves out those that were dismissed."""
    chosen = kind if kind in NOTICE_KINDS else ""
    unread = show == "unread"
    page = await db.aread(accounts.read_inbox, person.id, before, chosen, unread, INBOX_PAGE)
    values: dict[str, Any] = {"page": page, "kind": chosen, "unread": unread, "before": before, "names": KIND_NAMES}
    return render(request, "notices/inbox.html", fragment="notices/_inbox.html", **values)


@router.get("/inbox/{id}", name="open_notice")
async def open_notice(db: Db, id: RowId, person: Member) -> Response:
    """Lead to the page that has more; the notice is seen then."""
    return RedirectResponse(await db.awrite(accounts.open_notice, person.id, id) or "/inbox", status_code=303)


@router.post("/inbox/seen", name="dismiss_notices")
async def dismiss_notices(request: Request, db: Db, person: Member, newest: Annotated[int, Form(ge=0)] = 0) -> Response:
    """Dismiss all notices up to the newest that the page showed."""
    await db.awrite(accounts.dismiss_all_notices, person.id, newest)
    return redirect(request, "inbox")


@router.get("/settings/notifications", name="notifications")
async def notifications(request: Request, person: Member, done: str = "") -> Response:
    """Mail, webhooks, and which notices take which way."""
    return await _page(request, person, done=done)


@router.post("/settings/notifications", name="choose_notifications")
async def choose(request: Request, db: Db, settings: AppSettings, person: Member) -> Response:
    """Keep which notices take which ways: fields such as `mail` hold the kinds that take it.

    Where the site sends no mail, the form has no column for it, and that choice stays as it is.
    """
    form = await request.form()
    chosen = {kind: [channel for channel in CHANNELS if kind in form.getlist(channel)] for kind in NOTICE_KINDS}
    if not settings.mails:
        wish = await db.aread(service.wish_of, person.id)
        for kind, channels in chosen.items():
            channels += ["mail"] if service.wants_channel(wish, kind, "mail") else []
    await db.awrite(service.choose_channels, person.id, chosen)
    return redirect(request, "notifications", query={"done": "choices"})


@router.post(
    "/settings/notifications/address", name="choose_address", dependencies=[Depends(limited("verify mail", 5, 3600))]
)
async def choose_address(
    request: Request, db: Db, settings: AppSettings, person: Member, address: Text = ""
) -> Response:
    """Ask an address whether it is the person's; an empty one ends all mail."""
    try:
        if address.strip() and not settings.mails:
            raise Conflict(NO_MAIL)
        wish = await db.awrite(service.choose_address, person.id, address)
    except (Invalid, Conflict) as problem:
        return await _page(request, person, typed=address, **rejection(problem, "address"))
    done = "no-mail" if not wish.address else "mail" if wish.verified_at else "asked"
    return redirect(request, "notifications", query={"done": done})


async def _question_page(request: Request, template: str, purpose: str, token: str) -> Response:
    """A page with one button; whatever merely looks at links in mails changes nothing."""
    state = request.app.state
    wish = await state.db.aread(service.wish_of_link, state.settings.key, purpose, token)
    return render(request, template, address=mailing.mask_address(wish.address), token=token, done=False)


async def _answer_page(request: Request, template: str, act: Callable[..., Wish], token: str) -> Response:
    """Do what the button says, and return the page that tells so."""
    state = request.app.state
    wish = await state.db.awrite(act, state.settings.key, token)
    return render(request, template, address=mailing.mask_address(wish.address), token=token, done=True)


@router.get("/mail/verify/{token}", name="verify_mail")
async def ask_verify(request: Request, _: Viewer, token: str) -> Response:
    """Ask whether notices should come to the address."""
    return await _question_page(request, "notices/verify.html", mailing.VERIFY, token)


@router.post("/mail/verify/{token}")
async def verify(request: Request, _: Viewer, token: str) -> Response:
    """The address is theirs."""
    return await _answer_page(request, "notices/verify.html", service.confirm_address, token)


@router.get("/mail/unsubscribe/{token}", name="unsubscribe_mail")
async def ask_unsubscribe(request: Request, _: Viewer, token: str) -> Response:
    """Ask whether mail should end."""
    return await _question_page(request, "notices/unsubscribe.html", mailing.UNSUBSCRIBE, token)


@router.post("/mail/unsubscribe/{token}")
async def unsubscribe(request: Request, _: Viewer, token: str) -> Response:
    """No more mail."""
    return await _answer_page(request, "notices/unsubscribe.html", service.unsubscribe, token)
