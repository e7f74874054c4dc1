"""Joining, logging in, and the language of the pages."""

import re

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit import security
from dynabench.kit.api import Db, delete_cookie, set_cookie
from dynabench.kit.db import Database
from dynabench.kit.errors import Conflict, Invalid, Unauthenticated
from dynabench.kit.forms import Text, previous_page, redirect, rejection, safe_next
from dynabench.kit.language import COOKIE, LANGUAGES, _
from dynabench.people.accounts import login as entry
from dynabench.people.accounts import pending, second_factor, service
from dynabench.people.accounts.auth import Viewer
from dynabench.people.accounts.tables import LoginStep
from dynabench.web import render

router = APIRouter(include_in_schema=False)


def logged_in(request: Request, cookie: str, address: str) -> Response:
    """Send the browser on, with its session cookie."""
    response = RedirectResponse(safe_next(address), status_code=303)
    set_cookie(request, response, security.SESSION, cookie, int(service.SESSION_LENGTH.total_seconds()))
    return response


def logged_out(request: Request, address: str = "/") -> Response:
    """Send the browser on, without its session cookie."""
    response = RedirectResponse(address, status_code=303)
    delete_cookie(request, response, security.SESSION)
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
    cookie = await entry.start_session(request, person.id)
    return logged_in(request, cookie, next)


@router.get("/login", name="login")
async def login(request: Request, viewer: Viewer, next: str = "/", done: str = "") -> Response:
    """The form for logging in."""
    if viewer is not None:
        return RedirectResponse(safe_next(next), status_code=303)
    return login_form(request, next, done=done)


@router.post("/login")
async def send_login(
    request: Request,
    username: Text = "",
    password: Text = "",
    next: Text = "/",
) -> Response:
    """Log in: a new cookie, whatever the browser had before."""
    try:
        proven = await entry.check_credentials(request, username, password)
    except Unauthenticated as problem:
        return login_form(request, next, username, problem.detail)
    return await log_in(request, proven.person.id, next, rehashed=proven.rehashed, asks_code=True)


LOGIN_REASONS = (
    (r"/tasks/[^/]+/validate|/check", _("Log in to check what others wrote.")),
    (r"/tasks/[^/]+/submit", _("Log in to submit a model.")),
    (r"/tasks/new", _("Log in to create a task.")),
    (r"/open-evaluations/new", _("Log in to evaluate models on any dataset, such as a file of yours.")),
    (r"/data-reports", _("Log in to measure data: a file of yours, a dataset or a public one.")),
    (r"/hub/new", _("Log in to create a repository for a model, a dataset or an evaluation module.")),
    (r"/settings|/inbox|/people/me|/admin|/me|/pay|/classes", _("Log in to see this page.")),
)
"""Addresses that lead visitors to the form for logging in, and the words that say why."""


def _login_reason(address: str) -> str:
    """Say why the form is shown to a visitor who wanted `address`; "" where no page asked for it."""
    return next((words for pattern, words in LOGIN_REASONS if re.match(rf"(?:{pattern})(?:[/?]|$)", address)), "")


def login_form(
    request: Request, next: str, username: str = "", error: str = "", done: str = "", status: int = 0
) -> Response:
    """The form for logging in, with what is wrong."""
    values = {"username": username, "next": safe_next(next)}
    mails = request.app.state.settings.mails
    status = status or (401 if error else 200)
    context = values | {"reason": _login_reason(values["next"])}
    return render(request, "accounts/login.html", status=status, values=context, error=error, done=done, mails=mails)


async def log_in(
    request: Request,
    person_id: int,
    next: str,
    *,
    rehashed: str | None = None,
    provider: str = "",
    asks_code: bool = False,
) -> Response:
    """Log in a person who has proved who they are, and lead on.

    With `asks_code` a person who has an app for codes is asked for one first.
    """
    db: Database = request.app.state.db
    if cookie := pending.login_cookie(request):
        await db.awrite(pending.drop_login, cookie)
    if asks_code and await db.aread(second_factor.has_second_factor, person_id):
        details = {"next": safe_next(next), "rehashed": rehashed, "provider": provider}
        secret = await db.awrite(pending.begin_login, LoginStep.CODE, person_id, details)
        response: Response = redirect(request, "login_code")
        pending.keep_login(request, response, secret)
        return response
    session_cookie = await entry.start_session(request, person_id, rehashed, provider)
    response = logged_in(request, session_cookie, next)
    pending.forget_login(request, response)
    return response


@router.get("/login/code", name="login_code")
async def ask_code(request: Request, db: Db, _: Viewer) -> Response:
    """The form for the code of the app."""
    await db.aread(pending.read_login, pending.login_cookie(request), LoginStep.CODE)
    return render(request, "accounts/code.html", error="")


@router.post("/login/code")
async def send_code(request: Request, db: Db, code: Text = "") -> Response:
    """Log in with a code of the app, or with a recovery code."""
    cookie = pending.login_cookie(request)
    begun = await db.aread(pending.read_login, cookie, LoginStep.CODE)
    if not await entry.check_second_factor(request, begun.person_id or 0, code):
        await db.awrite(pending.count_failure, cookie, LoginStep.CODE)
        if begun.tries + 1 >= pending.MOST_TRIES:
            response = login_form(request, begun.details["next"], error=pending.EXPIRED, status=409)
            pending.forget_login(request, response)
            return response
        return render(request, "accounts/code.html", status=422, error=_("Wrong code. Each code works once."))
    await db.awrite(pending.end_login, cookie, LoginStep.CODE)
    details = begun.details
    person_id, rehashed, provider = begun.person_id or 0, details["rehashed"], details["provider"]
    return await log_in(request, person_id, details["next"], rehashed=rehashed, provider=provider)


@router.get("/terms", name="terms")
async def terms(request: Request, _: Viewer) -> Response:
    """The terms that people agree to when they join."""
    return render(request, "accounts/terms.html", version=service.TERMS)


@router.post("/logout", name="logout")
async def logout(request: Request, db: Db) -> Response:
    """Log this browser out."""
    cookie = security.session_cookie(request)
    provider = await db.awrite(service.end_session, cookie) if cookie else ""
    is_configured = any(entry.name == provider for entry in request.app.state.settings.oidc)
    return logged_out(
        request, str(request.url_for("logged_out_page").path) + f"?provider={provider}" if is_configured else "/"
    )


@router.post("/language", name="choose_language")
async def choose_language(request: Request, db: Db, viewer: Viewer, language: Text = "", next: Text = "") -> Response:
    """Read the pages in this language from now on, in this browser and, for who is logged in, everywhere."""
    chosen = clean_language(language)
    if viewer is not None:
        await db.awrite(service.choose_language, viewer.id, chosen)
    response = RedirectResponse(safe_next(next) if next else previous_page(request), status_code=303)
    remember_language(request, response, chosen)
    return response


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
