"""The random cookie of a browser that writes examples, known to the database by a keyed digest alone."""

import secrets

from starlette.requests import Request
from starlette.responses import Response

from dynabench.collection.writing_facts import DAYS
from dynabench.kit import security
from dynabench.kit.api import set_cookie

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
    if not device_digest(request):
        set_cookie(request, response, COOKIE, secrets.token_urlsafe(24), DAYS * 24 * 3600)
    return response
