"""Figures for Prometheus: requests by route template, never by address or person."""

import time
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request, cookie_parser
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynabench.kit import language, security
from dynabench.kit.language import _
from dynabench.site import problems

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """One application's figures; each application has its own registry."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        labels = ("method", "route")
        self.requests = Counter(
            "dynabench_requests_total", "Requests answered.", (*labels, "status"), registry=self.registry
        )
        self.seconds = Histogram(
            "dynabench_request_seconds",
            "Time to the end of the answer.",
            labels,
            buckets=SECONDS,
            registry=self.registry,
        )
        self.running = Gauge("dynabench_requests_running", "Requests being answered.", registry=self.registry)

    def observe(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one request that was answered with `status` after `seconds`."""
        method = scope["method"] if scope["method"] in METHODS else "OTHER"
        route = template(scope)
        self.requests.labels(method, route, str(status)).inc()
        self.seconds.labels(method, route).observe(seconds)


def template(scope: Scope) -> str:
    """The route's template, such as `/tasks/{task}`; all addresses that nobody serves count as one."""
    path: str | None = getattr(scope.get("route"), "path", None)
    return path or ("/static" if scope["path"].startswith("/static/") else "unmatched")


def show(request: Request) -> Response:
    """The figures in Prometheus' text format."""
    metrics: Metrics = request.app.state.metrics
    return Response(generate_latest(metrics.registry), media_type=CONTENT_TYPE_LATEST)


log = structlog.get_logger("dynabench.web")

VISITOR_SECONDS = 365 * 24 * 3600
GONE = 499
"""What is noted, as nginx does, where who asked was gone before the answer began."""


QUIET = frozenset({"/static", "/healthz", "/readyz", "/metrics"})


_SECURITY_HEADERS = [(name.lower().encode(), value.encode()) for name, value in security.HEADERS.items()]


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
        own = {name for name, _value in headers.raw}
        headers.raw.extend(pair for pair in _SECURITY_HEADERS if pair[0] not in own)
        if _is_page(scope):
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
        if not _is_page(scope):
            return "en"
        headers = Headers(scope=scope)
        cookies = cookie_parser(headers.get("cookie", ""))
        return language.choose_language(cookies.get(language.COOKIE), headers.get("accept-language", ""))

    def note(self, scope: Scope, status: int, seconds: float) -> None:
        """Count the request, and log it by its route's template: addresses may hold what people wrote."""
        self.metrics.observe(scope, status, seconds)
        route = template(scope)
        if route not in QUIET or status >= 500:
            log.info("request", method=scope["method"], route=route, status=status, ms=round(seconds * 1000, 1))


def _is_page(scope: Scope) -> bool:
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
