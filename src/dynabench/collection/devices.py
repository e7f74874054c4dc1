"""The random cookie of a browser that writes examples, known to the database by a keyed digest alone."""

import secrets

from starlette.requests import Request
from starlette.responses import Response

from dynabench.collection.writing_facts import DAYS
from dynabench.kit import security

COOKIE = "dynabench_device"


def device_digest(request: Request) -> str:
    """Return the keyed digest of the browser's device cookie, empty where it sent none."""
    settings = request.app.state.settings
    secret = request.cookies.get(security.cookie_name(settings, COOKIE), "")
    if not 20 <= len(secret) <= 60:
        return ""
    return security.keyed(settings.key, "device", secret).hex()[:32]


def set_device_cookie(request: Request, response: Response) -> Response:
    """Give a browser that writes examples a random device cookie, unless it has one."""
    settings = request.app.state.settings
    if not device_digest(request):
        response.set_cookie(
            security.cookie_name(settings, COOKIE),
            secrets.token_urlsafe(24),
            max_age=DAYS * 24 * 3600,
            httponly=True,
            secure=settings.secure_cookies,
            samesite="lax",
        )
    return response
