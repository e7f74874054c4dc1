"""Joining, logging in and settings as pages."""

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from dynabench.kit import security
from dynabench.kit.api import Db
from dynabench.kit.errors import Conflict, Invalid, Unauthenticated
from dynabench.kit.forms import Text, Texts, previous_page, redirect, rejection, safe_next
from dynabench.kit.language import COOKIE, LANGUAGES, _
from dynabench.people.accounts import login as entry
from dynabench.people.accounts import rules, service
from dynabench.people.accounts.auth import Member, Viewer
from dynabench.people.accounts.tables import SCOPES, Person
from dynabench.web import render
from dynabench.web.pages import wants_fragment

router = APIRouter(include_in_schema=False)


def _logged_in(request: Request, cookie: str, address: str) -> Response:
    """Send the browser on, with its session cookie."""
    settings = request.app.state.settings
    response = RedirectResponse(safe_next(address), status_code=303)
    response.set_cookie(
        security.cookie_name(settings, security.SESSION),
        cookie,
        max_age=int(service.SESSION_LENGTH.total_seconds()),
        secure=settings.secure_cookies,
        httponly=True,
        samesite="lax",
    )
    return response


def logged_out(request: Request) -> Response:
    """Send the browser to the first page, without its session cookie."""
    settings = request.app.state.settings
    response = RedirectResponse("/", status_code=303)
    name = security.cookie_name(settings, security.SESSION)
    response.delete_cookie(name, secure=settings.secure_cookies, httponly=True, samesite="lax")
    return response


@router.get("/register", name="register")
async def register(request: Request, viewer: Viewer, next: str = "/") -> Response:
    """The form for joining."""
    if viewer is not None:
        return RedirectResponse(safe_next(next), status_code=303)
    values = {"username": "", "email": "", "next": safe_next(next)}
    return render(request, "accounts/register.html", values=values, errors={})


@router.post("/register")
async def send_registration(
    request: Request,
    db: Db,
    username: Text = "",
    email: Text = "",
    password: Text = "",
    agree: Text = "",
    next: Text = "/",
) -> Response:
    """Join and be logged in."""
    try:
        person = await entry.join_site(request, username, email, password, agree == "yes")
    except (Invalid, Conflict) as problem:
        values = {"username": username, "email": email, "next": safe_next(next)}
        return render(request, "accounts/register.html", values=values, **rejection(problem, "username"))
    cookie = await db.awrite(service.start_session, person.id, security.session_cookie(request))
    return _logged_in(request, cookie, next)


@router.get("/login", name="login")
async def login(request: Request, viewer: Viewer, next: str = "/") -> Response:
    """The form for logging in."""
    if viewer is not None:
        return RedirectResponse(safe_next(next), status_code=303)
    return render(request, "accounts/login.html", values={"username": "", "next": safe_next(next)}, error="")


@router.post("/login")
async def send_login(
    request: Request,
    db: Db,
    username: Text = "",
    password: Text = "",
    next: Text = "/",
) -> Response:
    """Log in: a new cookie, whatever the browser had before."""
    try:
        proven = await entry.check_credentials(request, username, password)
    except Unauthenticated as problem:
        values = {"username": username, "next": safe_next(next)}
        return render(request, "accounts/login.html", status=401, values=values, error=problem.detail)
    cookie = await db.awrite(service.start_session, proven.person.id, security.session_cookie(request), proven.rehashed)
    return _logged_in(request, cookie, next)


@router.post("/logout", name="logout")
async def logout(request: Request, db: Db) -> Response:
    """Log this browser out."""
    cookie = security.session_cookie(request)
    if cookie:
        await db.awrite(service.end_session, cookie)
    return logged_out(request)


async def settings_page(request: Request, person: Person, status: int = 200, **values: Any) -> HTMLResponse:
    """The settings, with what was typed and what is wrong with it."""
    db = request.app.state.db
    context: dict[str, Any] = {"pseudonym": person.pseudonym, "errors": {}, "done": "", "secret": ""}
    context |= {"person": person, "all_scopes": SCOPES, "chosen": rules.USUAL_SCOPES}
    context |= {
        "tokens": await db.aread(service.list_tokens, person.id),
        "told": await db.aread(service.recent_notices, person.id, 10),
    }
    return render(request, "accounts/settings.html", status=status, **(context | values))


@router.get("/settings", name="settings")
async def settings(request: Request, person: Member) -> Response:
    """The person's own account."""
    return await settings_page(request, person)


@router.post("/settings/profile", name="change_profile")
async def change_profile(request: Request, db: Db, person: Member, pseudonym: Text = "") -> Response:
    """Choose the name that boards show."""
    try:
        name = rules.clean_pseudonym(pseudonym)
        person = await db.awrite(service.choose_pseudonym, person.id, name)
    except (Invalid, Conflict) as problem:
        return await settings_page(request, person, pseudonym=pseudonym, **rejection(problem, "pseudonym"))
    request.state.viewer = person
    return await settings_page(request, person, done="profile")


@router.post("/settings/language", name="change_language")
async def change_language(request: Request, db: Db, person: Member, language: Text = "") -> Response:
    """Choose the language of one's pages and mails; empty for what the browser asks for."""
    chosen = clean_language(language, empty=True)
    await db.awrite(service.choose_language, person.id, chosen)
    response = redirect(request, "settings")
    remember_language(request, response, chosen)
    return response


@router.post("/language", name="choose_language")
async def choose_language(request: Request, db: Db, viewer: Viewer, language: Text = "", next: Text = "") -> Response:
    """Read the pages in this language from now on, in this browser and, for who is logged in, everywhere."""
    chosen = clean_language(language)
    if viewer is not None:
        await db.awrite(service.choose_language, viewer.id, chosen)
    response = RedirectResponse(safe_next(next) if next else previous_page(request), status_code=303)
    remember_language(request, response, chosen)
    return response


@router.post("/settings/password", name="change_password")
async def change_password(
    request: Request, db: Db, person: Member, current: Text = "", password: Text = ""
) -> Response:
    """A new password: every other browser is logged out, this one gets a new cookie."""
    try:
        await entry.change_password(request, person, current, password)
    except Invalid as problem:
        return await settings_page(request, person, **rejection(problem, "current"))
    cookie = await db.awrite(service.start_session, person.id)
    return _logged_in(request, cookie, str(request.app.url_path_for("settings")))


@router.post("/settings/tokens", name="create_named_token")
async def create_named_token(request: Request, db: Db, person: Member, name: Text = "", scopes: Texts = ()) -> Response:
    """A new API token, its secret shown this once."""
    try:
        name, chosen = rules.clean_token_name(name), rules.clean_scopes(scopes)
    except Invalid as problem:
        return await settings_page(request, person, chosen=scopes, **rejection(problem, "name"))
    _, secret = await db.awrite(service.create_token, person.id, name, chosen)
    return await settings_page(request, person, 201, secret=secret)


@router.post("/settings/tokens/{id}/revoke", name="revoke_named_token")
async def revoke_named_token(request: Request, db: Db, id: security.RowId, person: Member) -> Response:
    """Revoke a token."""
    await db.awrite(service.revoke_token, person.id, id)
    return redirect(request, "settings")


@router.post("/settings/notices/{id}/seen", name="dismiss_notice")
async def dismiss_notice(request: Request, db: Db, id: security.RowId, person: Member) -> Response:
    """Show a notice no more."""
    await db.awrite(service.dismiss_notice, person.id, id)
    if wants_fragment(request):
        return HTMLResponse("")
    return RedirectResponse(previous_page(request), status_code=303)


YEAR = 365 * 24 * 3600


def clean_language(language: str, empty: bool = False) -> str:
    """One of the languages that the pages come in, or nothing where that may be; else `Invalid`."""
    if language in LANGUAGES or (empty and not language):
        return language
    raise Invalid({"language": _("The site is not available in this language.")})


def remember_language(request: Request, response: Response, language: str) -> None:
    """Have the browser ask for this language from now on; nothing forgets what was chosen."""
    secure = request.app.state.settings.secure_cookies
    if language:
        response.set_cookie(COOKIE, language, max_age=YEAR, secure=secure, httponly=True, samesite="lax")
    else:
        response.delete_cookie(COOKIE, secure=secure, httponly=True, samesite="lax")
