"""Admission of requests to the web process, decided before anything of a request is read.

A process that accepts all requests at once can answer none. So the number of requests in work is
bounded, in all and for each address, and requests of the same sender wait for each other. Requests
beyond the limits are refused at once with 503 and `Retry-After`. The fewer places are free, the fewer an
address may hold, so that a few addresses never hold all.
"""

import asyncio
import html
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynabench.crowd import frames
from dynabench.kit import security
from dynabench.kit.errors import TooMany, Unavailable
from dynabench.kit.language import _
from dynabench.site import problems
from dynabench.web.environment import environment
from dynabench.web.pages import wants_fragment

AT_ONCE, AT_ONCE_EACH = 256, 96
"""Requests in work or waiting for it: in all, and from one address (a class room may share one)."""
ANSWERS, ANSWERS_EACH = 512, 128
"""Answers that have begun and are not read to their end: in all, and to one address. They cost less than work does."""
WORKED_ON, PATIENCE = 8, 10.0
"""Requests of one sender that are computed at a time, and seconds that further ones wait for their turn: a sender is an
address with its cookie or token, so that those who send much wait for themselves and not others for them."""
RETRY_SECONDS = 2
CHANGES, CHANGES_OF_VISITORS, PERIOD = 1200, 300, 60.0
"""Requests of one address that change something, in so many seconds: with a person's cookie or token, and without."""
REMEMBERED, REMEMBERED_SECONDS = 10_000, 3600.0
"""Number of cookies and tokens of people that are remembered, and for how many seconds."""
STREAMS = frozenset({"/live/events"})
"""Addresses whose answers go on for as long as a page is open: they hold no place, and bound themselves."""
ALWAYS = frozenset({"/healthz", "/readyz", "/metrics"})
"""Addresses that answer under any load, as static files do: they cost nothing, and watchers need them."""


class Admission:
    """Takes a request on, or refuses it while too much is in work or its address changes too much too often."""

    def __init__(self, app: ASGIApp, at_once: int = AT_ONCE, item: int = AT_ONCE_EACH) -> None:
        self.app = app
        shared = item < at_once
        self.working = RequestPlaces(at_once, item, shared)
        self.answering = RequestPlaces(ANSWERS, ANSWERS_EACH if shared else ANSWERS, shared)
        self.turns: dict[tuple[str, str], _Turns] = {}
        self.credentials = Credentials()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 429 or 503 without reading its body."""
        if scope["type"] != "http" or _always(scope):
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        sender = security.address(request)
        if not (self.working.has_room(sender) and self.answering.has_room(sender)):
            await _busy(request)(scope, receive, send)
            return
        credential = self.credentials.find_digest(security.bearer(request) or security.session_cookie(request))
        try:
            _count_change(request, sender, bool(credential))
        except TooMany as problem:
            await (await problems.respond(request, problem))(scope, receive, send)
            return
        self.working.take(sender)
        held: RequestPlaces | None = self.working

        async def begun(message: Message) -> None:
            nonlocal held
            if message["type"] == "http.response.start" and held is self.working:
                self.working.give_back(sender)
                held = None if request.url.path in STREAMS else self.answering
                if held is not None:
                    held.take(sender)
            await send(message)

        try:
            await self.in_turn(request, (sender, credential), receive, begun)
        finally:
            if held is not None:
                held.give_back(sender)
            if not credential and scope.get("state", {}).get("viewer") is not None:
                self.credentials.remember(security.bearer(request) or security.session_cookie(request))

    async def in_turn(self, request: Request, sender: tuple[str, str], receive: Receive, send: Send) -> None:
        """Pass the request on once its sender has few others in work; its turn ends when the answer begins."""
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


class RequestPlaces:
    """Places that requests hold: `most` in all and `per_address` for each address.

    Where they are `shared`, an address may hold no more than are free: `n` addresses that take what they can leave one
    part of `n + 1` to others.
    """

    def __init__(self, most: int, per_address: int, shared: bool = True) -> None:
        self.most, self.per_address, self.shared = most, per_address, shared
        self.held = 0
        self.of_address: Counter[str] = Counter()

    def has_room(self, address: str) -> bool:
        """Tell whether an address may take another place."""
        free = self.most - self.held
        return free > 0 and self.of_address[address] < (
            min(self.per_address, free) if self.shared else self.per_address
        )

    def take(self, address: str) -> None:
        """Give a place to an address."""
        self.held += 1
        self.of_address[address] += 1

    def give_back(self, address: str) -> None:
        """Free a place of an address."""
        self.held -= 1
        self.of_address[address] -= 1
        if not self.of_address[address]:
            del self.of_address[address]


class Credentials:
    """Cookies and tokens that identified a person, so that made-up ones count for nothing.

    Only their digests are held, and for so many seconds; what is refused meanwhile is what the person may do.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    def find_digest(self, credential: str | None) -> str:
        """Return the digest of a credential that is known to identify a person, else an empty text."""
        digest = security.digest(credential) if credential and self._until else ""
        return digest if self._until.get(digest, 0.0) > self._clock() else ""

    def remember(self, credential: str | None) -> None:
        """Note that a credential identified a person."""
        if not credential:
            return
        digest = security.digest(credential)
        self._until.pop(digest, None)
        self._until[digest] = self._clock() + REMEMBERED_SECONDS
        if len(self._until) > REMEMBERED:
            del self._until[next(iter(self._until))]


@dataclass
class _Turns:
    """The places of one sender's requests, and how many requests hold or await one."""

    free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(WORKED_ON))
    users: int = 0


def _always(scope: Scope) -> bool:
    path: str = scope["path"]
    return scope["method"] in security.SAFE_METHODS and (path in ALWAYS or path.startswith("/static/"))


def _count_change(request: Request, sender: str, is_person: bool) -> None:
    if request.method in security.SAFE_METHODS:
        return
    name, most = ("changes", CHANGES) if is_person else ("visitors' changes", CHANGES_OF_VISITORS)
    security.throttle(request, name, most, PERIOD, key=sender)


def _busy(request: Request) -> Response:
    """The answer to a request that is not taken on: cheap, since many are given, and one that tries again by itself."""
    headers = {"Retry-After": str(RETRY_SECONDS), "Connection": "close"}
    problem = Unavailable(_("The site is too busy to answer right now."), retry_after=RETRY_SECONDS)
    if problems.is_api(request):
        return problems.document(problem, headers)
    if wants_fragment(request):
        return HTMLResponse(environment().get_template("web/_error.html").render(problem=problem), 503, headers)
    if request.method in ("GET", "HEAD"):
        headers["Refresh"] = str(RETRY_SECONDS)
        text = _("This page tries again in %(n)s seconds.", n=RETRY_SECONDS)
    else:
        text = _("Nothing was saved. Go back and send it again.")
    body = f"<!doctype html><title>Dynabench</title><p>{html.escape(problem.detail)}</p><p>{html.escape(text)}</p>"
    answer = HTMLResponse(body, 503, headers)
    if frames.is_framed(request):
        frames.allow_frames(request, answer)
    return answer


def scale(settings: Any) -> tuple[int, int]:
    """Return the requests in work at once, in all and of one address; without limits on rates those of one are all."""
    return AT_ONCE, AT_ONCE_EACH if settings.rate_limit else AT_ONCE
