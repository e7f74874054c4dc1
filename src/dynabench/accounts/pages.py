"""Joining, logging in and settings as pages."""

from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from dynabench import security
from dynabench.accounts import entry, passwords, rules, service
from dynabench.accounts.auth import Member, Viewer
from dynabench.accounts.tables import Person
from dynabench.errors import Conflict, Invalid, Unauthenticated
from dynabench.web import render

router = APIRouter(include_in_schema=False)
Text = Annotated[str, Form()]


def safe_next(address: str) -> str:
    """Where to go after log-in: a path of this site, or the home page for anything else."""
    plain = address.isascii() and address.isprintable() and "\\" not in address
    if not plain or not address.startswith("/") or address.startswith("//") or urlsplit(address).netloc:
        return "/"
    return address


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


def _logged_out(request: Request) -> Response:
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
        person = await entry.join(request, username, email, password, agree == "yes")
    except (Invalid, Conflict) as problem:
        values = {"username": username, "email": email, "next": safe_next(next)}
        errors = problem.extra["fields"]
        return render(request, "accounts/register.html", status=problem.status, values=values, errors=errors)
    cookie = await request.app.state.db.awrite(service.start_session, person.id, security.session_cookie(request))
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
    username: Text = "",
    password: Text = "",
    next: Text = "/",
) -> Response:
    """Log in: a new cookie, whatever the browser had before."""
    try:
        proven = await entry.prove(request, username, password)
    except Unauthenticated as problem:
        values = {"username": username, "next": safe_next(next)}
        return render(request, "accounts/login.html", status=401, values=values, error=problem.detail)
    cookie = await request.app.state.db.awrite(
        service.start_session, proven.person.id, security.session_cookie(request), proven.rehashed
    )
    return _logged_in(request, cookie, next)


@router.post("/logout", name="logout")
async def logout(request: Request) -> Response:
    """Log this browser out."""
    cookie = security.session_cookie(request)
    if cookie:
        await request.app.state.db.awrite(service.end_session, cookie)
    return _logged_out(request)


async def _settings(request: Request, person: Person, status: int = 200, **values: Any) -> HTMLResponse:
    tokens = await request.app.state.db.aread(service.tokens, person.id)
    known: dict[str, Any] = {"pseudonym": person.pseudonym, "errors": {}, "done": "", "secret": ""}
    return render(request, "accounts/settings.html", status=status, person=person, tokens=tokens, **(known | values))


@router.get("/settings", name="settings")
async def settings(request: Request, person: Member) -> Response:
    """The person's own account."""
    return await _settings(request, person)


@router.post("/settings/profile", name="change_profile")
async def change_profile(request: Request, person: Member, pseudonym: Text = "") -> Response:
    """Choose the name that boards show."""
    try:
        name = rules.clean_pseudonym(pseudonym)
        person = await request.app.state.db.awrite(service.choose_pseudonym, person.id, name)
    except (Invalid, Conflict) as problem:
        errors = problem.extra["fields"]
        return await _settings(request, person, problem.status, pseudonym=pseudonym, errors=errors)
    request.state.viewer = person
    return await _settings(request, person, done="profile")


@router.post("/settings/password", name="change_password")
async def change_password(request: Request, person: Member, current: Text = "", password: Text = "") -> Response:
    """A new password: every other browser is logged out, this one gets a new cookie."""
    errors = {}
    if not await entry.confirm(request, person, current):
        errors["current"] = "This is not your password."
    elif problem := rules.password_problem(password, person.username, person.email):
        errors["password"] = problem
    if errors:
        return await _settings(request, person, 422, errors=errors)
    hashed = await passwords.amake(password, request.app.state.settings.password_cost)
    await request.app.state.db.awrite(service.change_password, person.id, hashed)
    cookie = await request.app.state.db.awrite(service.start_session, person.id)
    return _logged_in(request, cookie, str(request.app.url_path_for("settings")))


@router.post("/settings/tokens", name="create_named_token")
async def create_named_token(request: Request, person: Member, name: Text = "") -> Response:
    """A new API token, its secret shown this once."""
    try:
        name = rules.clean_token_name(name)
    except Invalid as problem:
        return await _settings(request, person, 422, errors={"token": problem.fields["name"]})
    _, secret = await request.app.state.db.awrite(service.create_token, person.id, name)
    return await _settings(request, person, 201, secret=secret)


@router.post("/settings/tokens/{id}/revoke", name="revoke_named_token")
async def revoke_named_token(request: Request, id: security.RowId, person: Member) -> Response:
    """Revoke a token."""
    await request.app.state.db.awrite(service.revoke_token, person.id, id)
    return RedirectResponse(str(request.app.url_path_for("settings")), status_code=303)


@router.post("/settings/delete", name="delete_account")
async def delete_account(request: Request, person: Member, name: Text = "", password: Text = "") -> Response:
    """Delete the account, once its name and password are typed."""
    errors = {}
    if name.strip() != person.username:
        errors["name"] = "Type your username exactly to delete the account."
    elif not await entry.confirm(request, person, password):
        errors["delete_password"] = "This is not your password."  # noqa: S105 - a message, no password
    if errors:
        return await _settings(request, person, 422, errors=errors)
    await request.app.state.db.awrite(service.delete_account, person.id, request.app.state.settings.key)
    return _logged_out(request)
