"""Pages by which people who cannot log in choose a new password, and by which they confirm their address."""

from fastapi import APIRouter, Depends, Request
from starlette.background import BackgroundTask
from starlette.responses import Response

from dynabench.kit import security
from dynabench.kit.api import AppSettings, Db
from dynabench.kit.errors import Conflict, Invalid
from dynabench.kit.forms import Text, redirect, rejection
from dynabench.kit.language import _
from dynabench.people.accounts import login, recovery, rules
from dynabench.people.accounts.auth import Member, Viewer, limited
from dynabench.web import render

router = APIRouter(include_in_schema=False)
NO_MAIL = _("This site does not send email. Ask an administrator of the site for a link to a new password.")
OPENED = [Depends(limited("account link", 60, 600))]


@router.get("/login/forgot", name="forgot_password")
async def forgot_password(request: Request, settings: AppSettings, _: Viewer, name: str = "") -> Response:
    """The form that asks for a link to a new password."""
    if not settings.mails:
        raise Conflict(NO_MAIL)
    return render(request, "accounts/forgot.html", account=name[:254], done=False, error="")


@router.post("/login/forgot")
async def send_forgot(request: Request, db: Db, settings: AppSettings, name: Text = "") -> Response:
    """Mail the link where there is such an account; the answer and its time are the same where there is none."""
    if not settings.mails:
        raise Conflict(NO_MAIL)
    name = name.strip()[:254]
    if not name:
        error = _("Enter your username or email.")
        return render(request, "accounts/forgot.html", status=422, account="", done=False, error=error)
    security.throttle(request, "forgot", 30, login.HOUR, key=security.address(request))
    security.throttle(request, "forgot", 5, login.HOUR, key=f"name {name.lower()} {security.address(request)}")
    response = render(request, "accounts/forgot.html", account=name, done=True, error="")
    response.background = BackgroundTask(db.awrite, recovery.mail_reset_link, name)  # after the answer was sent
    return response


@router.get("/login/reset/{token}", name="reset_password", dependencies=OPENED)
async def ask_password(request: Request, db: Db, settings: AppSettings, token: str) -> Response:
    """The form for the new password; whatever merely looks at links in mails changes nothing."""
    person = await db.aread(recovery.person_to_reset, settings.key, token)
    return render(request, "accounts/reset.html", token=token, username=person.username, errors={})


@router.post("/login/reset/{token}", dependencies=OPENED)
async def reset_password(request: Request, db: Db, settings: AppSettings, token: str, password: Text = "") -> Response:
    """Set the new password; every browser is logged out."""
    person = await db.aread(recovery.person_to_reset, settings.key, token)
    try:
        if problem := rules.password_problem(password, person.username, person.email):
            raise Invalid({"password": problem})
    except Invalid as problem:
        values = rejection(problem, "password")
        return render(request, "accounts/reset.html", token=token, username=person.username, **values)
    hashed = await login.hash_password_in_thread(password, settings.password_cost)
    await db.awrite(recovery.reset_password, settings.key, token, hashed)
    return redirect(request, "login", query={"done": "reset"})


@router.get("/mail/confirm/{token}", name="confirm_email", dependencies=OPENED)
async def ask_confirmation(request: Request, db: Db, settings: AppSettings, token: str) -> Response:
    """Ask whether the address is right."""
    person = await db.aread(recovery.person_to_confirm, settings.key, token)
    return render(request, "accounts/confirm.html", token=token, username=person.username, done=False)


@router.post("/mail/confirm/{token}", dependencies=OPENED)
async def confirm_email(request: Request, db: Db, settings: AppSettings, token: str) -> Response:
    """Note that the address is right."""
    person = await db.awrite(recovery.confirm_email, settings.key, token)
    return render(request, "accounts/confirm.html", token=token, username=person.username, done=True)


@router.post("/settings/email/confirm", name="send_confirmation")
async def send_confirmation(request: Request, db: Db, settings: AppSettings, person: Member) -> Response:
    """Send the link once more."""
    if not settings.mails:
        raise Conflict(NO_MAIL)
    if person.email_confirmed_at is None:
        await db.awrite(recovery.mail_confirmation, person.id)
    return redirect(request, "settings", query={"done": "confirm"})
