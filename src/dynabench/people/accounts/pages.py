"""Joining, logging in, and the language of the pages."""

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from dynabench.kit import security
from dynabench.kit.api import Db
from dynabench.kit.errors import Conflict, Invalid, Unauthenticated
from dynabench.kit.forms import Text, previous_page, rejection, safe_next
from dynabench.kit.language import COOKIE, LANGUAGES, _
from dynabench.people.accounts import login as entry
from dynabench.people.accounts import service
from dynabench.people.accounts.auth import Viewer
from dynabench.web import render

router = APIRouter(include_in_schema=False)


def logged_in(request: Request, cookie: str, address: str) -> Response:
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
    return _login_form(request, next, done=done)


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
        return _login_form(request, next, username, problem.detail)
    cookie = await entry.start_session(request, proven.person.id, proven.rehashed)
    return logged_in(request, cookie, next)


def _login_form(request: Request, next: str, username: str = "", error: str = "", done: str = "") -> Response:
    values = {"username": username, "next": safe_next(next)}
    mails = request.app.state.settings.mails
    status = 401 if error else 200
    return render(request, "accounts/login.html", status=status, values=values, error=error, done=done, mails=mails)


@router.get("/terms", name="terms")
async def terms(request: Request) -> Response:
    """The terms that people agree to when they join."""
    return render(request, "accounts/terms.html", version=service.TERMS)


@router.post("/logout", name="logout")
async def logout(request: Request, db: Db) -> Response:
    """Log this browser out."""
    cookie = security.session_cookie(request)
    if cookie:
        await db.awrite(service.end_session, cookie)
    return logged_out(request)


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
