"""The guard of a host over TCP: only callers that send the host's token may call it."""

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dynabench.kit.errors import Invalid

OPEN = frozenset({"/metrics", "/v2/health/live", "/v2/health/ready"})
"""What anybody may read: figures and health."""


class Guard:
    """Demands `Authorization: Bearer TOKEN` for everything but figures and health."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the call on, or answer 401."""
        if scope["type"] == "http" and scope["path"] not in OPEN:
            sent = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(sent, self._wanted):
                told = "This host demands its token: send Authorization: Bearer with DYNABENCH_HOST_TOKEN."
                refusal = JSONResponse({"error": told}, 401, {"WWW-Authenticate": "Bearer"})
                await refusal(scope, receive, send)
                return
        await self._app(scope, receive, send)


def check(url: str, token: str, without_token: bool) -> None:
    """Raise `Invalid` for an address that others can reach where no token is set, unless that is wanted."""
    if url.startswith("unix:") or token or without_token or _loopback(urlsplit(url).hostname or ""):
        return
    told = (
        f"{url} can be reached from other machines, and whoever reaches it could ask every model. "
        "Set DYNABENCH_HOST_TOKEN here and where `dynabench serve` runs, or add --without-token on a network of yours."
    )
    raise Invalid({"url": told})


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("", "localhost")
