"""Replies while they are written: models are asked here, readers get each piece, the database is kept up to date.

A turn belongs to no request: it goes on when the page that began it is gone, and any page may follow it.
"""

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session
from starlette.responses import StreamingResponse

from dynabench.collection.chat import service
from dynabench.collection.chat.service import ENDED, Asking, Begun
from dynabench.collection.chat.tables import ChatTurnState, ReplyState, Turn
from dynabench.kit.db import Database
from dynabench.kit.errors import Problem, Unavailable
from dynabench.kit.language import _
from dynabench.models.client import Host
from dynabench.tasks.fields.chat import SIDES

log = logging.getLogger("dynabench.chat")

AT_ONCE = 128
"""Turns of one web process that are answered at a time; more are refused."""
BEAT = 0.5
"""Seconds between two times that replies are written down."""
LOOK = 0.3
"""Seconds between two looks at a turn that another process writes down."""


@dataclass
class Writing:
    """One reply: its text so far, its state, how long the first piece and the whole took."""

    text: str = ""
    state: str = "writing"
    reason: str = ""
    first_ms: float | None = None
    whole_ms: float | None = None

    def values(self) -> dict[str, Any]:
        """As a row holds it."""
        return dict(vars(self))


@dataclass(frozen=True)
class LiveTurn:
    """The state of a turn: its attempt, its replies by side, and whether all of it is over."""

    attempt: int
    replies: dict[int, Writing]
    over: bool
    silent: bool = False


class Live:
    """A turn that this process writes down."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self.replies = {side: Writing() for side, _, _ in asking.sides}
        self.replies |= {side: Writing(text, "done") for side, text in asking.finished_texts}
        self.version = 0
        self._news = asyncio.Event()

    @property
    def writing(self) -> bool:
        """True while any side still writes."""
        return any(reply.state == ReplyState.WRITING for reply in self.replies.values())

    def end(self, state: str) -> None:
        """No side writes any more: all that did have ended in this state."""
        for reply in self.replies.values():
            if reply.state == ReplyState.WRITING:
                reply.state = state
        self.tell()

    def tell(self) -> None:
        """Wake the readers that wait for news."""
        self.version += 1
        self._news.set()
        self._news = asyncio.Event()

    async def news(self, since: int, seconds: float) -> None:
        """Wait for a version other than `since`, or so long."""
        if self.version == since:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._news.wait()

    def rows(self) -> dict[int, dict[str, Any]]:
        """The replies that are being asked for, as their rows hold them."""
        return {side: self.replies[side].values() for side, _, _ in self.asking.sides}


class Chats:
    """The turns that one web process has models reply to. Lives on one event loop."""

    def __init__(self, db: Database, host: Host) -> None:
        self._db, self._host = db, host
        self._live: dict[int, Live] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}

    def room(self) -> None:
        """Raise `Unavailable` while too many turns are under way."""
        if len(self._live) >= AT_ONCE:
            raise Unavailable(_("Too many conversations are running. Try again in a moment."), retry_after=5)

    def start(self, asking: Asking) -> None:
        """Have the models reply."""
        live = self._live[asking.turn_id] = Live(asking)
        self._tasks[asking.turn_id] = asyncio.create_task(self._run(live))

    def stop(self, turn_id: int) -> None:
        """End the replies to a turn where they are; where another process writes them, the database tells it."""
        if live := self._live.get(turn_id):
            live.end("stopped")

    async def ended(self, turn_id: int) -> None:
        """Wait until a turn is over, in whichever process it is written down."""
        async for _state in self.states(turn_id):
            pass

    async def states(self, turn_id: int) -> AsyncGenerator[LiveTurn, None]:
        """Yield the state of a turn: now, after each change, and every few seconds.

        The last state is over.
        """
        while True:
            if live := self._live.get(turn_id):
                since = live.version
                yield LiveTurn(live.asking.attempt, live.replies, over=False)
                await live.news(since, service.SILENT.total_seconds())
                continue
            seen = await self._db.aread(_stored, turn_id)
            if seen.silent:
                await self._db.awrite(service.cut_off, turn_id)
                continue
            yield seen
            if seen.over:
                return
            await asyncio.sleep(LOOK)

    async def close(self) -> None:
        """End all replies; their turns are marked as cut off."""
        for live in self._live.values():
            live.end("cut_off")
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _run(self, live: Live) -> None:
        asking = live.asking
        writers = [asyncio.create_task(self._write(live, *side)) for side in asking.sides]
        watching = asyncio.create_task(self._keep_posted(live))
        try:
            while live.writing:
                await live.news(live.version, 1.0)
        finally:
            for task in (watching, *writers):
                task.cancel()
            await asyncio.gather(watching, *writers, return_exceptions=True)
            await self._keep(live, ended=True)
            del self._live[asking.turn_id], self._tasks[asking.turn_id]
            live.tell()

    async def _write(self, live: Live, side: int, model: str, version: str) -> None:
        reply, begun = live.replies[side], time.perf_counter()
        state, reason = ReplyState.DONE, ""
        try:
            pieces = self._host.converse(model, version, live.asking.messages, live.asking.max_tokens)
            async for piece in pieces:
                if reply.first_ms is None:
                    reply.first_ms = (time.perf_counter() - begun) * 1000
                reply.text += piece
                live.tell()
            if not reply.text.strip():
                state, reason = ReplyState.FAILED, _("The model wrote nothing.")
        except Problem as problem:
            state, reason = ReplyState.FAILED, problem.detail[:500]
        except Exception as error:
            log.exception("side %s of turn %s", side, live.asking.turn_id)
            state, reason = ReplyState.FAILED, type(error).__name__
        if reply.state == ReplyState.WRITING:
            reply.state, reply.reason = state, reason
            reply.whole_ms = (time.perf_counter() - begun) * 1000
        live.tell()

    async def _keep_posted(self, live: Live) -> None:
        while True:
            await asyncio.sleep(BEAT)
            if await self._keep(live, ended=False):
                live.end("stopped")

    async def _keep(self, live: Live, ended: bool) -> bool:
        try:
            return await self._db.awrite(service.keep, live.asking, live.rows(), ended)
        except Exception:
            log.exception(
                "turn %s", live.asking.turn_id
            )  # tried again at the next beat; after the last one silence tells
            return False


def _stored(session: Session, turn_id: int) -> LiveTurn:
    turn = session.get_one(Turn, turn_id)
    replies = {reply.side: Writing(reply.text, reply.state) for reply in turn.replies}
    writing = turn.state == ChatTurnState.WRITING
    return LiveTurn(turn.attempt, replies, over=not writing, silent=writing and not service.writing(turn))


MEDIA_TYPE = "text/event-stream"
_ID = re.compile(r"(\d{1,6}):(\d{1,7}(?:\.\d{1,7}){0,5})")
DOCUMENTED: dict[str, Any] = {
    "description": "Server-sent events: `turn` (conversation, number, attempt), `reply` (side, and a piece of text), "
    "`ended` (side, and how: done, stopped, failed or cut_off), at last `end`. The id of an event goes into "
    "`Last-Event-ID` of a request that resumes.",
    "content": {MEDIA_TYPE: {"schema": {"type": "string"}}},
}


@dataclass
class Cursor:
    """The characters that were sent, by side of one attempt."""

    attempt: int = 0
    sent: dict[int, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str | None) -> "Cursor":
        """From `Last-Event-ID`; what is none of ours begins anew."""
        match = _ID.fullmatch(text or "")
        return cls(int(match[1]), dict(enumerate(map(int, match[2].split("."))))) if match else cls()

    def __str__(self) -> str:
        return (
            f"{self.attempt}:{'.'.join(str(self.sent.get(side, 0)) for side in range(max(self.sent, default=0) + 1))}"
        )


def response(chats: Chats, begun: Begun, last: str | None = None) -> StreamingResponse:
    """The turn from its beginning, or from behind the event `last`."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(events(chats, begun, Cursor.read(last)), media_type=MEDIA_TYPE, headers=headers)


async def events(chats: Chats, begun: Begun, cursor: Cursor) -> AsyncIterator[str]:
    """The events behind the cursor, up to the end of the turn."""
    ended_sides: set[int] = set()
    yield _event("turn", conversation=begun.conversation_id, number=begun.number)
    async with aclosing(chats.states(begun.turn_id)) as states:
        async for seen in states:
            if seen.attempt != cursor.attempt:
                cursor, ended_sides = Cursor(seen.attempt), set()
            quiet = True
            for side, reply in sorted(seen.replies.items()):
                begin = min(cursor.sent.get(side, 0), len(reply.text))
                if text := reply.text[begin:]:
                    cursor.sent[side] = begin + len(text)
                    yield _event("reply", cursor, side=SIDES[side], text=text)
                    quiet = False
                if reply.state in ENDED and side not in ended_sides:
                    ended_sides.add(side)
                    yield _event("ended", side=SIDES[side], state=reply.state)
                    quiet = False
            if quiet and not seen.over:
                yield ": still writing\n\n"
    yield _event("end")


def _event(name: str, cursor: Cursor | None = None, **document: Any) -> str:
    id = f"id: {cursor}\n" if cursor else ""
    return f"{id}event: {name}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n"
