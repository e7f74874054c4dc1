"""Processing of every request and response, as plain ASGI: limits, headers, figures, one log line."""

import time
from typing import Any

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynabench.kit import language, security
from dynabench.kit.language import _
from dynabench.site import problems
from dynabench.site.metrics import Metrics, template

log = structlog.get_logger("dynabench.web")

VISITOR_SECONDS = 365 * 24 * 3600
GONE = 499
"""What is noted, as nginx does, where who asked was gone before the answer began."""


QUIET = frozenset({"/static", "/healthz", "/readyz", "/metrics"})


class Frame:
    """Adds the security headers and the visitor's cookie, counts and logs the request."""

    def __init__(self, app: ASGIApp, settings: Any, metrics: Metrics) -> None:
        self.app, self.settings, self.metrics = app, settings, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with an answer that is dressed on its way out."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state.setdefault("viewer", None)
        began, status = time.perf_counter(), GONE
        language.current.set(self.language(scope))

        async def dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self.dress(MutableHeaders(scope=message), scope)
            await send(message)

        with self.metrics.running.track_inprogress():
            try:
                await self.app(scope, receive, dressed)
            except Exception:
                status = 500
                raise
            finally:
                self.note(scope, status, time.perf_counter() - began)

    def dress(self, headers: MutableHeaders, scope: Scope) -> None:
        """The headers of every response; pages and JSON are never kept by caches unless a route says so."""
        for name, value in security.HEADERS.items():
            headers.setdefault(name, value)
        if _shown(scope):
            headers.add_vary_header("Accept-Language, Cookie")
            headers.setdefault("Content-Language", language.current.get())
        if self.settings.secure_cookies:
            headers.setdefault("Strict-Transport-Security", "max-age=31536000")
        headers.setdefault("Cache-Control", "no-store" if scope["path"].startswith("/api/") else "private, no-cache")
        fresh = scope["state"].get("new_visitor")
        if fresh:
            secure = "; Secure" if self.settings.secure_cookies else ""
            name = security.cookie_name(self.settings, security.VISITOR)
            headers.append(
                "Set-Cookie", f"{name}={fresh}; Path=/; Max-Age={VISITOR_SECONDS}; HttpOnly; SameSite=Lax{secure}"
            )

    def language(self, scope: Scope) -> str:
        """The language that the reader's cookie or browser asks for; the JSON API speaks English alone."""
        if not _shown(scope):
            return "en"
        headers = Headers(scope=scope)
        cookies = cookie_parser(headers.get("cookie", ""))
        return language.wanted(cookies.get(language.COOKIE), headers.get("accept-language", ""))

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count the request, and log it by its route's template: addresses may hold what people wrote."""
        self.metrics.observe(scope, status, seconds)
        route = template(scope)
        if route not in QUIET or status >= 500:
            log.info("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1))


def _shown(scope: Scope) -> bool:
    """Return whether people read the page at this address."""
    return not scope["path"].startswith(("/api/", "/static/", "/metrics", "/healthz", "/readyz"))


class CleanAddress:
    """Refuses addresses with characters that no route can mean and that databases choke on."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400 to NUL characters and invalid UTF-8 in the path or the query."""
        if scope["type"] == "http" and _dirty(scope):
            request = Request(scope)
            response = await problems.respond(
                request, problems.BadRequest(_("The address contains invalid characters."))
            )
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)


def _dirty(scope: Scope) -> bool:
    if "\0" in scope["path"] or b"%00" in scope.get("query_string", b""):
        return True
    return any("\ud800" <= character <= "\udfff" for character in scope["path"])
