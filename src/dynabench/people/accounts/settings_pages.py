"""The settings of one's own account: profile, tokens, privacy and security."""

from typing import Any
from urllib.parse import urlsplit

import segno
from fastapi import APIRouter, Request
from markupsafe import Markup
from sqlalchemy.orm import Session
from starlette.responses import HTMLResponse, RedirectResponse, Response

from dynabench.kit import security
from dynabench.kit.api import Db
from dynabench.kit.errors import Conflict, Invalid
from dynabench.kit.forms import Text, Texts, previous_page, redirect, rejection
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts import login as entry
from dynabench.people.accounts import rules, second_factor, service
from dynabench.people.accounts.auth import Member
from dynabench.people.accounts.oidc import service as identities
from dynabench.people.accounts.pages import clean_language, logged_in, remember_language
from dynabench.people.accounts.tables import SCOPES, Person
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)
# What is looked for, in this order: nearly every browser also names those that it descends from.
BROWSERS = (
    ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"), ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"), ("CriOS/", "Chrome"),
    ("Chromium/", "Chromium"), ("Chrome/", "Chrome"), ("Safari/", "Safari"), ("curl/", "curl"),
)  # fmt: skip
SYSTEMS = (
    ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
    ("Mac OS X", "macOS"), ("Linux", "Linux"),
)  # fmt: skip


def _profile(request: Request, person: Person, status: int = 200, **values: Any) -> HTMLResponse:
    context: dict[str, Any] = {"pseudonym": person.pseudonym, "errors": {}, "done": ""}
    context |= {"mails": request.app.state.settings.mails, "offered_languages": rules.OFFERED_LANGUAGES}
    context |= {"other_languages": " ".join(set(person.known_languages) - set(rules.OFFERED_LANGUAGES))}
    return render(request, "accounts/settings.html", status=status, person=person, **(context | values))


@router.get("/settings", name="settings")
async def settings(request: Request, person: Member, done: str = "") -> Response:
    """The name that boards show, and the language of pages and mails."""
    return _profile(request, person, done=done)


@router.post("/settings/profile", name="change_profile")
async def change_profile(request: Request, db: Db, person: Member, pseudonym: Text = "") -> Response:
    """Choose the name that boards show."""
    try:
        name = rules.clean_pseudonym(pseudonym)
        await db.awrite(service.choose_pseudonym, person.id, name)
    except (Invalid, Conflict) as problem:
        return _profile(request, person, pseudonym=pseudonym, **rejection(problem, "pseudonym"))
    return redirect(request, "settings", query={"done": "profile"})


@router.post("/settings/public-profile", name="change_public_profile")
async def change_public_profile(request: Request, db: Db, person: Member, public: Text = "") -> Response:
    """Show the profile to everybody, or to the person alone; back to the profile where the form stands there."""
    await db.awrite(service.choose_public_profile, person.id, public == "true")
    if previous_page(request).startswith("/people/"):
        return RedirectResponse(previous_page(request), status_code=303)
    return redirect(request, "settings", query={"done": "public" if public == "true" else "private"})


@router.post("/settings/known-languages", name="change_known_languages")
async def change_known_languages(
    request: Request, db: Db, person: Member, language: Texts = (), others: Text = ""
) -> Response:
    """Choose the languages in which one writes and checks; none for all."""
    try:
        languages = rules.clean_known_languages([*language, *others.replace(",", " ").split()])
        await db.awrite(service.choose_known_languages, person.id, languages)
    except Invalid as problem:
        return _profile(request, person, other_languages=others, **rejection(problem, "known_languages"))
    return redirect(request, "settings", query={"done": "known"}, anchor="known-title")


@router.post("/settings/language", name="change_language")
async def change_language(request: Request, db: Db, person: Member, language: Text = "") -> Response:
    """Choose the language of one's pages and mails; empty for what the browser asks for."""
    chosen = clean_language(language, empty=True)
    await db.awrite(service.choose_language, person.id, chosen)
    response = redirect(request, "settings", query={"done": "language"})
    remember_language(request, response, chosen)
    return response


async def _tokens(request: Request, db: Db, person: Person, status: int = 200, **values: Any) -> HTMLResponse:
    context: dict[str, Any] = {"errors": {}, "secret": "", "typed": "", "done": ""}
    context |= {"all_scopes": SCOPES, "chosen": rules.USUAL_SCOPES}
    context |= {"tokens": await db.aread(service.list_tokens, person.id)}
    return render(request, "accounts/tokens.html", status=status, **(context | values))


@router.get("/settings/tokens", name="tokens")
async def tokens(request: Request, db: Db, person: Member, done: str = "") -> Response:
    """The person's API tokens."""
    return await _tokens(request, db, person, done=done)


@router.post("/settings/tokens", name="create_named_token")
async def create_named_token(request: Request, db: Db, person: Member, name: Text = "", scopes: Texts = ()) -> Response:
    """A new API token, its secret shown this once."""
    try:
        clean, chosen = rules.clean_token_name(name), rules.clean_scopes(scopes)
    except Invalid as problem:
        return await _tokens(request, db, person, chosen=scopes, typed=name, **rejection(problem, "name"))
    _token, secret = await db.awrite(service.create_token, person.id, clean, chosen)
    return await _tokens(request, db, person, 201, secret=secret)


@router.post("/settings/tokens/{id}/revoke", name="revoke_named_token")
async def revoke_named_token(request: Request, db: Db, id: security.RowId, person: Member) -> Response:
    """Revoke a token."""
    await db.awrite(service.revoke_token, person.id, id)
    return redirect(request, "tokens", query={"done": "revoked"})


@router.get("/settings/privacy", name="privacy")
async def privacy(request: Request, person: Member) -> Response:
    """The ways to one's own examples, to withdrawing them, and to deleting the account."""
    return render(request, "accounts/privacy.html", person=person)


async def _security(request: Request, db: Db, person: Person, status: int = 200, **values: Any) -> HTMLResponse:
    cookie = security.session_cookie(request)
    own = security.digest(cookie) if cookie else ""
    browsers = [
        {
            "login": row,
            "device": device_name(row.user_agent),
            "handle": row.digest[: service.HANDLE],
            "own": row.digest == own,
        }
        for row in await db.aread(service.list_sessions, person.id)
    ]
    context: dict[str, Any] = {"errors": {}, "done": "", "browsers": browsers, "person": person, "recovery_codes": ()}
    context |= await db.aread(_further_ways, request.app.state.settings, person.id)
    return render(request, "accounts/security.html", status=status, **(context | values))


def _further_ways(session: Session, settings: Settings, person_id: int) -> dict[str, Any]:
    """The app for codes, and the accounts at providers: linked ones, and those that could be."""
    linked = identities.list_identities(session, person_id)
    labels = {provider.issuer: provider.label for provider in settings.oidc}
    return {
        "factor": {
            "on": second_factor.has_second_factor(session, person_id),
            "codes": second_factor.count_recovery_codes(session, person_id),
        },
        "identities": [
            {"identity": row, "label": labels.get(row.issuer, urlsplit(row.issuer).hostname or row.issuer)}
            for row in linked
        ],
        "linkable": [provider for provider in settings.oidc if provider.issuer not in {row.issuer for row in linked}],
    }


@router.get("/settings/security", name="security")
async def security_settings(request: Request, db: Db, person: Member, done: str = "") -> Response:
    """The password, and the browsers that are logged in."""
    return await _security(request, db, person, done=done)


@router.post("/settings/password", name="change_password")
async def change_password(
    request: Request, db: Db, person: Member, current: Text = "", password: Text = ""
) -> Response:
    """A new password: every other browser is logged out, this one gets a new cookie."""
    try:
        await entry.change_password(request, person, current, password)
    except Invalid as problem:
        return await _security(request, db, person, **rejection(problem, "current"))
    cookie = await entry.start_session(request, person.id)
    return logged_in(request, cookie, str(request.app.url_path_for("security")) + "?done=password")


@router.post("/settings/second-factor", name="change_second_factor")
async def change_second_factor(
    request: Request, db: Db, person: Member, act: Text = "", factor_password: Text = ""
) -> Response:
    """Begin to set up an app for codes, ask for none any more, or make new recovery codes."""
    key = request.app.state.settings.key
    if not await entry.confirm_password(request, person, factor_password):
        return await _security(request, db, person, 422, errors={"factor_password": _("Wrong password.")})
    if act == "on":
        await db.awrite(second_factor.begin_setup, key, person.id)
        return redirect(request, "second_factor")
    if act == "off":
        await db.awrite(second_factor.drop_second_factor, person.id, person.id)
        return redirect(request, "security", query={"done": "off"})
    if act == "codes" and await db.aread(second_factor.has_second_factor, person.id):
        codes = await db.awrite(second_factor.renew_recovery_codes, person.id)
        return await _security(request, db, person, recovery_codes=codes)
    return redirect(request, "security")


@router.get("/settings/second-factor", name="second_factor")
async def set_up_second_factor(request: Request, db: Db, person: Member) -> Response:
    """The key for the app, as a picture too, and the form for the first code."""
    return await _setup_page(request, db, person)


async def _setup_page(request: Request, db: Db, person: Person, status: int = 200, **values: Any) -> Response:
    settings = request.app.state.settings
    secret = await db.aread(second_factor.secret_to_confirm, settings.key, person.id)
    if secret is None:
        return redirect(request, "security")
    address = second_factor.app_address(secret, person.username, urlsplit(settings.site).netloc)
    drawing = segno.make(address, error="m").svg_inline(border=3, light="#fff", omitsize=True)
    qr_code = Markup(drawing)  # noqa: S704 - made here, with no text of anybody in it
    context: dict[str, Any] = {"secret": secret, "qr_code": qr_code, "errors": {}}
    return render(request, "accounts/second_factor.html", status=status, **(context | values))


@router.post("/settings/second-factor/confirm", name="confirm_second_factor")
async def confirm_second_factor(request: Request, db: Db, person: Member, code: Text = "") -> Response:
    """Turn codes on by the first one; the other browsers, which gave none, are logged out."""
    security.throttle(request, "code", 10, 600, key=f"person {person.id}")
    try:
        codes = await db.awrite(second_factor.confirm_setup, request.app.state.settings.key, person.id, code)
    except Invalid as problem:
        return await _setup_page(request, db, person, **rejection(problem, "code"))
    await db.awrite(service.end_other_sessions, person.id, security.digest(security.session_cookie(request) or ""))
    return await _security(request, db, person, recovery_codes=codes)


@router.post("/settings/sessions/{handle}/end", name="end_named_session")
async def end_named_session(request: Request, db: Db, handle: str, person: Member) -> Response:
    """Log out one of one's other browsers."""
    await db.awrite(service.end_named_session, person.id, handle)
    return redirect(request, "security", query={"done": "ended"}, anchor="sessions-title")


@router.post("/settings/sessions/end", name="end_other_sessions")
async def end_other_sessions(request: Request, db: Db, person: Member) -> Response:
    """Log out all browsers but this one."""
    await db.awrite(service.end_other_sessions, person.id, security.digest(security.session_cookie(request) or ""))
    return redirect(request, "security", query={"done": "ended"}, anchor="sessions-title")


@router.post("/settings/notices/{id}/seen", name="dismiss_notice")
async def dismiss_notice(request: Request, db: Db, id: security.RowId, person: Member) -> Response:
    """Show a notice no more."""
    await db.awrite(service.dismiss_notice, person.id, id)
    if wants_fragment(request):
        return HTMLResponse("")
    return RedirectResponse(previous_page(request), status_code=303)


def device_name(user_agent: str) -> str:
    """Return the name of a browser and the system it runs on, such as “Firefox on Linux”."""
    browser = next((name for part, name in BROWSERS if part in user_agent), "")
    system = next((name for part, name in SYSTEMS if part in user_agent), "")
    if browser and system:
        return _("%(browser)s on %(system)s", browser=browser, system=system)
    return browser or system or _("Unknown device")
