"""Which requests the web process takes on, and how much of their bodies it reads, decided before anything is read.

A process that takes on all that comes answers nobody. So the number of requests in work is bounded, in all and for
each address; what is too much is refused at once with 503 and `Retry-After`. A body larger than an ordinary form is
read for people who are logged in alone, JSON only on routes that say so; a body that does not come is not waited for.
"""

import asyncio
import html
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynabench import problems, security
from dynabench.accounts.auth import identify
from dynabench.errors import Problem, TooLarge, TooMany, Unauthenticated, Unavailable
from dynabench.language import _

AT_ONCE, AT_ONCE_EACH = 256, 96
"""Requests in work or waiting for it: in all, and from one address (a class room may share one)."""
WORKED_ON, PATIENCE = 8, 10.0
"""Requests of one sender that are computed at a time, and seconds that further ones wait for their turn: a sender is an
address with its cookie or token, so that those who send much wait for themselves and not others for them."""
RETRY_SECONDS = 2
CHANGES, CHANGES_OF_VISITORS, PERIOD = 1200, 300, 60.0
"""Requests of one address that change something, in so many seconds: with a cookie or token, and without."""
UNREAD = 48 * 2**20
"""Bytes of bodies of unknown senders that are held at a time."""
BODY_SECONDS = 20.0
"""Seconds in which the next part of a body has to come."""
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


class BodyLimit:
    """Reads no more of a body than its sender may send, whether the length is announced or not.

    `limit` bytes are for everybody. `larger` maps patterns of paths that take uploads to their own limits, `forms`
    those that take them in forms of several parts alone, `documents` those that take larger JSON; all of these are for
    people who are logged in.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit: int,
        larger: Mapping[str, int] | None = None,
        forms: Mapping[str, int] | None = None,
        documents: Mapping[str, int] | None = None,
    ) -> None:
        self.app, self.limit = app, limit
        self.larger = _patterns(larger)
        self.forms = _patterns(forms)
        self.documents = _patterns(documents)
        self.unread = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; reading more than the limit ends it with a problem."""
        if scope["type"] != "http" or scope["method"] in security.SAFE_METHODS:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        most, known = self.most(request), False
        try:
            if most > self.limit:
                known = await self.is_known(request)
            _check_announced(request, most if known else self.limit, wants_login=not known and most > self.limit)
        except Problem as problem:
            await (await problems.respond(request, problem))(scope, receive, send)
            return
        body = _Body(self, receive, most if known else self.limit, known)
        try:
            await self.app(scope, body.receive, send)
        finally:
            body.forget()

    def most(self, request: Request) -> int:
        """Return the bytes that a person who is logged in may send there."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == "application/json" or kind.endswith("+json"):
            known = self.documents
        else:
            known = [*self.larger, *(self.forms if kind == "multipart/form-data" else ())]
        path = request.scope["path"]
        return next((most for pattern, most in known if pattern.fullmatch(path)), self.limit)

    async def is_known(self, request: Request) -> bool:
        """Tell whether a person sends this; asked of the database before a byte of the body is read."""
        if security.bearer(request) is None and not security.session_cookie(request):
            return False
        return await identify(request) is not None


def _check_announced(request: Request, most: int, wants_login: bool) -> None:
    announced = request.headers.get("content-length", "")
    if not announced.isdigit() or int(announced) <= most:
        return
    if wants_login:
        raise Unauthenticated(_("Log in to send more than %(n)s KiB here. Nothing was read.", n=most // 1024))
    raise TooLarge(_too_large(most))


class _Body:
    """The body of one request while it is read."""

    def __init__(self, limit: BodyLimit, receive: Receive, most: int, known: bool) -> None:
        self.limit, self._receive, self.most, self.known = limit, receive, most, known
        self.size, self.more = 0, True

    async def receive(self) -> Message:
        """Return the next part; raises `HTTPException`, the one kind that body parsers let through."""
        if not self.more:
            return await self._receive()
        try:
            async with asyncio.timeout(BODY_SECONDS):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, _("The rest of this request did not come in time.")) from None
        part = len(message.get("body", b""))
        self.more = message["type"] == "http.request" and bool(message.get("more_body"))
        self.size += part
        if not self.known:
            self.limit.unread += part
        if self.size > self.most:
            raise HTTPException(413, _too_large(self.most))
        if not self.known and self.limit.unread > UNREAD:
            told = _("The site has more to do than it can answer just now.")
            raise HTTPException(503, told, {"Retry-After": str(RETRY_SECONDS)})
        return message

    def forget(self) -> None:
        """Count the body no more."""
        if not self.known:
            self.limit.unread -= self.size


def _patterns(limits: Mapping[str, int] | None) -> list[tuple[re.Pattern[str], int]]:
    return [(re.compile(pattern), most) for pattern, most in (limits or {}).items()]


def _too_large(most: int) -> str:
    return _("This is more than the %(n)s KiB that can be sent here. Nothing was kept.", n=most // 1024)


def scale(settings: Any) -> tuple[int, int]:
    """Return the requests in work at once, in all and of one address; without limits on rates those of one are all."""
    return AT_ONCE, AT_ONCE_EACH if settings.rate_limit else AT_ONCE
