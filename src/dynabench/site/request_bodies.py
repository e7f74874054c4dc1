"""Limits on how much of a request's body is read, decided from the request's head.

A body larger than an ordinary form is read only for people who are logged in, as JSON only on routes
that say so, and no more than one person may send a day or the disk has room for. The process does not
wait for a body that does not come, and the bodies of unknown senders share a bounded memory.
"""

import asyncio
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dynabench.kit import security
from dynabench.kit.db import now
from dynabench.kit.disk import require_disk_room
from dynabench.kit.errors import Invalid, Problem, TooLarge, TooMany, Unauthenticated
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.people.accounts import service
from dynabench.people.accounts.auth import identify
from dynabench.site import problems

UNREAD = 48 * 2**20
"""Bytes of bodies of unknown senders that are held at a time."""
BODY_SECONDS = 20.0
"""Seconds in which the next part of a body has to come, and a whole body that is small."""
SLOWEST = 4096
"""Bytes a second that a larger body has to come with: a body that trickles holds a place that others wait for."""
RETRY_SECONDS = 2
MEMBERS, NAMES = 10_000, 50_000
"""Members that JSON of `security.SMALL` bytes may have, and in proportion to what a route takes; and names of members
in any JSON: each may cost a message of its own, which takes longer than reading it."""
MIB, DAY = 2**20, 24 * 3600.0
LOOK_BYTES = 4 * MIB
"""Bytes of uploads after which the disk and the sender's day are looked at again."""


class BodyLimit:
    """Reads no more of a body than its sender may send, whether the length is announced or not.

    `limit` bytes are for everybody. `larger` maps patterns of paths that take uploads to their own limits, `forms`
    those that take them in forms of several parts alone, `documents` those that take larger JSON; all of these are for
    people who are logged in. `signed` has the paths whose address names its sender, with a function that reads it.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit: int,
        larger: Mapping[str, int] | None = None,
        forms: Mapping[str, int] | None = None,
        documents: Mapping[str, int] | None = None,
        signed: Mapping[str, Callable[[Request], Awaitable[bool]]] | None = None,
    ) -> None:
        self.app, self.limit = app, limit
        self.larger = _patterns(larger)
        self.forms = _patterns(forms)
        self.documents = _patterns(documents)
        self.signed = [(re.compile(pattern), identify_by) for pattern, identify_by in (signed or {}).items()]
        self.unread = 0
        self.uploads = Uploads()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; reading more than the limit ends it with a problem."""
        if scope["type"] != "http" or scope["method"] in security.SAFE_METHODS:
            await self.app(scope, receive, send)
            return
        request = Request(scope)
        most, entries = self.most(request), False
        try:
            if most > self.limit:
                entries = await self.is_known(request)
            size = _check_announced(
                request, most if entries else self.limit, wants_login=not entries and most > self.limit
            )
            if entries and size > self.limit:
                await self.uploads.check(request, size)
        except Problem as problem:
            await (await problems.respond(request, problem))(scope, receive, send)
            return
        most = most if entries else self.limit
        request.state.most_bytes = most
        body = _Body(self, receive, most, request if entries else None, security.is_json(request))
        try:
            await self.app(scope, body.receive, send)
        finally:
            await body.forget()

    def most(self, request: Request) -> int:
        """Return the bytes that a person who is logged in may send there."""
        kind = security.media_type(request)
        if kind == "application/x-www-form-urlencoded":
            return self.limit
        if security.is_json(request):
            entries = self.documents
        else:
            entries = [*self.larger, *(self.forms if kind == "multipart/form-data" else ())]
        path = request.scope["path"]
        return next((most for pattern, most in entries if pattern.fullmatch(path)), self.limit)

    async def is_known(self, request: Request) -> bool:
        """Tell whether a person sends this; asked of the database before a byte of the body is read."""
        for pattern, identify_by in self.signed:
            if pattern.fullmatch(request.scope["path"]):
                return await identify_by(request)
        if security.bearer(request) is None and not security.session_cookie(request):
            return False
        return await identify(request) is not None


def _check_announced(request: Request, most: int, wants_login: bool) -> int:
    """Return the announced length, 0 where there is none; raises what refuses one that is too large."""
    announced = request.headers.get("content-length", "")
    if not announced.isdigit() or int(announced) <= most:
        return int(announced) if announced.isdigit() else 0
    if wants_login:
        raise Unauthenticated(_("Log in to send more than %(n)s KiB here. Nothing was read.", n=most // 1024))
    raise TooLarge(_too_large(most))


class MemberCount:
    """Counts the members of a JSON text that comes in parts, and the names among them, before it is parsed.

    What stands within texts is not counted. Of a text that is no JSON the count holds up to the place where that shows,
    which is as far as a parser gets.
    """

    def __init__(self) -> None:
        self.members, self.names = 0, 0
        self._in_text = False
        self._escape = b""  # a backslash at the end of the last part

    def add(self, part: bytes) -> None:
        """Count the next part."""
        text = (self._escape + part).replace(b"\\\\", b"")
        self._escape = text[-1:] if text.endswith(b"\\") else b""
        pieces = text.removesuffix(b"\\").replace(b'\\"', b"").split(b'"')
        outside = b"".join(pieces[self._in_text :: 2])
        self.members += sum(map(outside.count, (b",", b"[", b"{")))
        self.names += outside.count(b":")
        self._in_text ^= len(pieces) % 2 == 0


class _Body:
    """The body of one request while it is read."""

    def __init__(
        self, limit: BodyLimit, receive: Receive, most: int, sender: Request | None, is_json: bool = False
    ) -> None:
        self.limit, self._receive, self.most, self.sender = limit, receive, most, sender
        self.count = MemberCount() if is_json else None
        self.size, self.uncounted, self.more = 0, 0, True
        self.waited = 0.0  # seconds for parts; what the reader does between them is not the sender's delay

    async def receive(self) -> Message:
        """Return the next part; raises `HTTPException`, the one kind that body parsers let through."""
        if not self.more:
            return await self._receive()
        seconds_left = BODY_SECONDS + self.size / SLOWEST - self.waited
        began = time.monotonic()
        try:
            async with asyncio.timeout(min(seconds_left, BODY_SECONDS)):
                message = await self._receive()
        except TimeoutError:
            raise HTTPException(408, _("The rest of this request did not arrive in time.")) from None
        self.waited += time.monotonic() - began
        part = len(message.get("body", b""))
        self.more = message["type"] == "http.request" and bool(message.get("more_body"))
        self.size += part
        self.uncounted += part
        if self.sender is None:
            self.limit.unread += part
        if self.size > self.most:
            raise HTTPException(413, _too_large(self.most))
        if self.count is not None:
            self._check_members(self.count, message.get("body", b""))
        if self.sender is not None:
            if self.uncounted >= LOOK_BYTES or not self.more:
                await self._count(self.sender)
        elif self.limit.unread > UNREAD:
            problem = _("The site is too busy to answer right now.")
            raise HTTPException(503, problem, {"Retry-After": str(RETRY_SECONDS)})
        return message

    def _check_members(self, count: MemberCount, part: bytes) -> None:
        """Refuse JSON that would take long to look at, before anything parses it."""
        if b"\0" in part:  # UTF-16 or UTF-32, which Python's parser would take
            raise HTTPException(400, security.NO_JSON)
        count.add(part)
        most = MEMBERS * max(1, self.most // security.SMALL)
        if count.members > most or count.names > NAMES:
            problem = _("This JSON has more than %(n)s members.", n=f"{most if count.members > most else NAMES:,}")
            raise HTTPException(422, problem) from Invalid({"body": problem})

    async def _count(self, sender: Request) -> None:
        """Count what has come since the last time towards the sender's day, where it is more than a form."""
        size, self.uncounted = self.uncounted, 0
        if size and self.size > self.limit.limit:
            await self.limit.uploads.count(sender, size)

    async def forget(self) -> None:
        """Hold the body no more: all that has come of it counts by now."""
        if self.sender is None:
            self.limit.unread -= self.size
        else:
            with suppress(HTTPException):  # the request has its answer
                await self._count(self.sender)


class Uploads:
    """Bytes that people have sent to routes for large files, by person, and the room that the disk has for more.

    A person's bytes are forgotten evenly over a day. They are counted in the database: for all web processes together,
    and beyond a restart.
    """

    async def check(self, request: Request, size: int) -> None:
        """Refuse `size` further bytes of a person where they are too many a day, or the disk has no room for them.

        Raises `TooMany` with the seconds after which they will be taken, or `NoRoom`.
        """
        settings, db = request.app.state.settings, request.app.state.db
        most = settings.upload_mb_per_day * MIB
        _check(settings, await db.aread(service.counted_bytes, request.state.viewer.id, most, now()), size)

    async def count(self, request: Request, size: int) -> None:
        """Count bytes that have come; raises `HTTPException` where they are too many, or the disk is filling up."""
        settings, db = request.app.state.settings, request.app.state.db
        most = settings.upload_mb_per_day * MIB
        sent = await db.awrite(service.count_uploaded_bytes, request.state.viewer.id, size, most, now())
        try:
            _check(settings, sent, 0)
        except Problem as problem:
            raise HTTPException(problem.status, problem.detail, _retry_after(problem)) from problem


def _check(settings: Settings, sent: int, size: int) -> None:
    """Refuse `size` bytes of a person of whom `sent` bytes count already."""
    most = settings.upload_mb_per_day * MIB
    over = sent + size - most
    if over > 0:
        after = max(1, math.ceil(min(over, most) / most * DAY))
        problem = _(
            "The limit is %(most)s MiB per person and day. Try again in %(after)s minutes.",
            most=settings.upload_mb_per_day,
            after=math.ceil(after / 60),
        )
        raise TooMany(problem, retry_after=after)
    require_disk_room(settings, size)


def _retry_after(problem: Problem) -> dict[str, str]:
    after = problem.extra.get("retry_after")
    return {} if after is None else {"Retry-After": str(after)}


def _patterns(limits: Mapping[str, int] | None) -> list[tuple[re.Pattern[str], int]]:
    return [(re.compile(pattern), most) for pattern, most in (limits or {}).items()]


def _too_large(most: int) -> str:
    return _("The limit here is %(n)s KiB. Nothing was saved.", n=most // 1024)
