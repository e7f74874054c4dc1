"""Log-ins that take more than one request. Every function but those about cookies runs in the caller's transaction."""

import secrets
from datetime import timedelta
from typing import Any

from fastapi import Request
from sqlalchemy import delete
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.kit import security
from dynabench.kit.api import delete_cookie, set_cookie
from dynabench.kit.db import now
from dynabench.kit.errors import Conflict
from dynabench.kit.language import _
from dynabench.people.accounts.tables import LoginStep, PendingLogin

COOKIE = "dynabench_login"
LENGTH = timedelta(minutes=10)
MOST_TRIES = 5
EXPIRED = _("This log-in took too long or was begun in another browser. Log in again.")


class EndedLogIn(Conflict):
    """A log-in of several requests that has ended, or belongs to another browser."""

    def __init__(self) -> None:
        super().__init__(EXPIRED)


def begin_login(session: Session, step: LoginStep, person_id: int | None, details: dict[str, Any]) -> str:
    """Begin a log-in of several requests: the value of the browser's cookie. Those that were given up are forgotten."""
    session.execute(delete(PendingLogin).where(PendingLogin.expires_at <= now()))
    secret = secrets.token_urlsafe(32)
    pending = PendingLogin(digest=security.digest(secret), step=step, person_id=person_id, details=details)
    pending.expires_at = now() + LENGTH
    session.add(pending)
    return secret


def read_login(session: Session, secret: str, *steps: LoginStep, lock: bool = False) -> PendingLogin:
    """Return the log-in of the browser with this cookie; `EndedLogIn` where none is at one of these steps."""
    pending = session.get(PendingLogin, security.digest(secret), with_for_update=lock) if secret else None
    if pending is None or pending.step not in steps or pending.expires_at <= now():
        raise EndedLogIn
    return pending


def end_login(session: Session, secret: str, *steps: LoginStep) -> PendingLogin:
    """Return the log-in of the browser with this cookie, which ends: it is there once."""
    pending = read_login(session, secret, *steps, lock=True)
    session.delete(pending)
    session.flush()
    return pending


def drop_login(session: Session, secret: str) -> None:
    """End the log-in of the browser with this cookie, if there is one."""
    session.execute(delete(PendingLogin).where(PendingLogin.digest == security.digest(secret)))


def count_failure(session: Session, secret: str, *steps: LoginStep) -> None:
    """Count a wrong code or password; after `MOST_TRIES` the log-in ends, and must be begun anew."""
    pending = read_login(session, secret, *steps, lock=True)
    pending.tries += 1
    if pending.tries >= MOST_TRIES:
        session.delete(pending)


def login_cookie(request: Request) -> str:
    """Return the cookie of a log-in under way; "" without one."""
    return request.cookies.get(security.cookie_name(request.app.state.settings, COOKIE), "")


def keep_login(request: Request, response: Response, secret: str) -> None:
    """Give the browser the cookie of a log-in under way; it comes back from a provider's page as well."""
    set_cookie(request, response, COOKIE, secret, int(LENGTH.total_seconds()))


def forget_login(request: Request, response: Response) -> None:
    """Take the cookie of a log-in from the browser."""
    delete_cookie(request, response, COOKIE)
