"""Which requests the web process takes on, decided before anything of them is read.

A process that takes on all that comes answers nobody. So the number of requests in work is bounded, in all and for
each address, and one sender's requests wait for each other; what is too much is refused at once with 503 and
`Retry-After`.
"""

import asyncio
import html
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynabench import problems, security
from dynabench.errors import TooMany, Unavailable
from dynabench.language import _

AT_ONCE, AT_ONCE_EACH = 256, 96
"""Requests in work or waiting for it: in all, and from one address (a class room may share one)."""
WORKED_ON, PATIENCE = 8, 10.0
"""Requests of one sender that are computed at a time, and seconds that further ones wait for their turn: a sender is an
address with its cookie or token, so that those who send much wait for themselves and not others for them."""
RETRY_SECONDS = 2
CHANGES, CHANGES_OF_VISITORS, PERIOD = 1200, 300, 60.0
"""Requests of one address that change something, in so many seconds: with a cookie or token, and without."""
ALWAYS = ("/static/", "/healthz", "/readyz", "/metrics")
"""Addresses that answer under any load: they cost nothing, and watchers need them."""


class Admission:
    """Takes a request on, or refuses it while too much is in work or its address changes too much too often."""

    def __init__(self, app: ASGIApp, at_once: int = AT_ONCE, each: int = AT_ONCE_EACH) -> None:
        self.app, self.at_once, self.each = app, at_once, each
        self.running = 0
        self.of_address: Counter[str] = Counter()
        self.turns: dict[tuple[str, str], _Turns] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 429 or 503 without reading its body."""
        if scope["type"] != "http" or scope["path"].startswith(ALWAYS):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        who = security.address(request)
        if self.running >= self.at_once or self.of_address[who] >= self.each:
            await _busy(request)(scope, receive, send)
            return
        try:
            _count_change(request, who)
        except TooMany as problem:
            await (await problems.respond(request, problem))(scope, receive, send)
            return
        self.running += 1
        self.of_address[who] += 1
        try:
            await self.in_turn(request, who, receive, send)
        finally:
            self.running -= 1
            self.of_address[who] -= 1
            if not self.of_address[who]:
                del self.of_address[who]

    async def in_turn(self, request: Request, who: str, receive: Receive, send: Send) -> None:
        """Pass the request on once its sender has few others in work; its turn ends when the answer begins."""
        sender = who, security.bearer(request) or security.session_cookie(request) or ""
        turns = self.turns.setdefault(sender, _Turns())
        turns.users += 1
        working = False

        def end_turn() -> None:
            nonlocal working
            if working:
                turns.free.release()
                working = False

        async def begun(message: Message) -> None:
            if message["type"] == "http.response.start":
                end_turn()  # streams and downloads may go on for long, and cost little
            await send(message)

        try:
            try:
                async with asyncio.timeout(PATIENCE):
                    await turns.free.acquire()
            except TimeoutError:
                await _busy(request)(request.scope, receive, send)
                return
            working = True
            await self.app(request.scope, receive, begun)
        finally:
            end_turn()
            turns.users -= 1
            if not turns.users:
                self.turns.pop(sender, None)


@dataclass
class _Turns:
    """The places of one sender's requests, and how many requests hold or await one."""

    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(WORKED_ON))
    users: int = 0


def _count_change(request: Request, who: str) -> None:
    if request.method in security.SAFE_METHODS:
        return
    known = security.bearer(request) is not None or security.session_cookie(request)
    name, most = ("changes", CHANGES) if known else ("visitors' changes", CHANGES_OF_VISITORS)
    security.throttle(request, name, most, PERIOD, key=who)


def _busy(request: Request) -> Response:
    """The answer to a request that is not taken on: cheap, since many are given, and one that tries again by itself."""
    headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
    problem = Unavailable(_("The site has more to do than it can answer just now."), retry_after=RETRY_SECONDS)
    if problems.is_api(request):
        return problems.document(problem, headers)
    if request.method in ("GET", "HEAD"):
        headers["Refresh"] = str(RETRY_SECONDS)
    text = html.escape(_("This page tries again in %(n)s seconds.", n=RETRY_SECONDS))
    body = f"<!doctype html><title>Dynabench</title><p>{html.escape(problem.detail)}</p><p>{text}</p>"
    return HTMLResponse(body, 503, headers)


def scale(settings: Any) -> tuple[int, int]:
    """Return the requests in work at once, in all and of one address; without limits on rates those of one are all."""
    return AT_ONCE, AT_ONCE_EACH if settings.rate_limit else AT_ONCE
