"""The live feed of one web process: one reader of the database, and the streams of all its clients.

The reader looks once a second at most, and only while there are clients; a client costs no query. Each process has its
own reader, so several behind one port need nothing from each other: positions are numbers of the database, and a client
may go on at any process.
"""

import asyncio
import json
import logging
import math
import random
import socket
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, cast

import uvicorn
from fastapi import FastAPI

from dynabench.kit.language import translate
from dynabench.site.admission import RequestPlaces
from dynabench.site.live.activity import ActivityLine, Position, read_changes
from dynabench.site.live.counters import Counters, Counts, Topic, describe_counts

log = logging.getLogger(__name__)
MOST_STREAMS, MOST_OF_ADDRESS = 256, 64
"""Streams of one process, in all and to one address; further clients ask for the counters now and then."""
PAUSE, LONGEST_PAUSE = 1.0, 30.0
"""Seconds between two looks at the database; they double while it fails."""
IDLE_COUNTERS = 15.0
"""Seconds after which counters are read again although no example came: people stop playing, models are scored."""
BUSY_COUNTERS = 5.0
"""Seconds between two reads of the counters while examples come."""
HEARTBEAT = 15.0
"""Seconds of silence after which a comment is sent: proxies close connections on which nothing happens."""
LIFETIME = 1800.0
"""Seconds after which a stream ends, give or take a third, and its client connects again, perhaps elsewhere."""
HISTORY = 200
"""Sentences that are kept for clients that connect again."""
AT_ONCE = 5
"""Sentences that one client is sent after one look; of more, the newest."""


@dataclass(frozen=True)
class _Entry:
    number: int
    activity: ActivityLine
    position: Position


class Feed:
    """Streams of one process. Lives on one event loop; `close` ends all streams at once."""

    def __init__(self, state: Any, most: int = MOST_STREAMS, of_address: int = MOST_OF_ADDRESS) -> None:
        self._state = state
        self.counters = Counters(state)
        self.places = RequestPlaces(most, of_address)
        self.closed = False
        self.looks = 0
        self._reader: asyncio.Task[None] | None = None
        self._changed, self._ending = asyncio.Event(), asyncio.Event()
        self._entries: deque[_Entry] = deque(maxlen=HISTORY)
        self._seen_keys: dict[tuple[str, int], None] = {}
        self._number = 0
        self._position: Position | None = None
        self._topics: dict[Topic, int] = {}
        self._counts: dict[Topic, tuple[int, Counts]] = {}
        self._read_at: dict[Topic, float] = {}
        self._busy: set[Topic] = set()

    def has_room(self, address: str) -> bool:
        """Tell whether a client at this address may have a stream."""
        return not self.closed and self.places.has_room(address)

    async def close(self) -> None:
        """End all streams and the reader."""
        self.closed = True
        self._publish()
        self._ending.set()
        if self._reader is not None:
            await self._reader  # a look under way ends: cancelled, it would leave its connection behind

    async def stream(self, address: str, topic: Topic, last: Position | None = None) -> AsyncGenerator[str, None]:
        """Yield server-sent events about a topic until the client goes, the feed closes or the stream is old.

        `last` is the position up to which the client has been told; without it, only what comes is told.
        """
        if not self.has_room(address):
            return
        self.places.take(address)
        self._topics[topic] = self._topics.get(topic, 0) + 1
        try:
            yield f"retry: {random.randint(2000, 6000)}\n\n"
            async for text in self._events(topic, last):
                yield text
        finally:
            self.places.give_back(address)
            self._topics[topic] -= 1
            if not self._topics[topic]:
                del self._topics[topic]

    async def _events(self, topic: Topic, last: Position | None) -> AsyncGenerator[str, None]:
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + LIFETIME * random.uniform(2 / 3, 4 / 3)
        number = counts_number = 0
        if self._reader is None or self._reader.done():
            self._reader = asyncio.create_task(self._read_on())
        while not self.closed and loop.time() < ends_at:
            changed = self._changed
            last = last or self._position
            for entry in self._news(topic, number, last):
                yield _event("activity", _describe(entry.activity), entry.position)
            number = self._number
            stored = self._counts.get(topic)
            if stored and stored[0] > counts_number:
                counts_number = stored[0]
                yield _event("counters", describe_counts(stored[1]))
            if self.closed:
                return
            try:
                await asyncio.wait_for(changed.wait(), HEARTBEAT)
            except TimeoutError:
                yield ": still here\n\n"

    def _news(self, topic: Topic, number: int, last: Position | None) -> list[_Entry]:
        if last is None:  # the first look has yet to say where a new client begins
            return []
        news = [
            entry
            for entry in self._entries
            if entry.number > number
            and (topic is None or (entry.activity.task, entry.activity.number) == topic)
            and entry.activity.is_after(last)
        ]
        return news[-AT_ONCE:]

    async def _read_on(self) -> None:
        """Look for changes while there are clients. An error doubles the pause, and ends nothing."""
        pause = PAUSE
        while self._topics and not self.closed:
            try:
                await self._look()
                pause = PAUSE
            except Exception:
                log.exception("Reading changes for live pages failed.")
                pause = min(2 * pause, LONGEST_PAUSE)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), pause)

    async def _look(self) -> None:
        self.looks += 1
        changes = await self._state.db.aread(read_changes, self._position)
        is_news, self._position = self._position is None, changes.position
        for activity in changes.activities:
            if activity.key not in self._seen_keys:
                self._note(activity)
                is_news = True
        is_news = await self._read_counts(changes.rounds) or is_news
        if is_news:
            self._publish()

    def _note(self, activity: ActivityLine) -> None:
        self._seen_keys[activity.key] = None
        if len(self._seen_keys) > 10 * HISTORY:
            del self._seen_keys[next(iter(self._seen_keys))]
        self._number += 1
        before = self._entries[-1].position if self._entries else Position()
        example = 0 if activity.verdict_id else activity.example_id
        reached = Position(max(before.example, example), max(before.verdict, activity.verdict_id))
        self._entries.append(_Entry(self._number, activity, reached))

    async def _read_counts(self, concerned: frozenset[tuple[str, int]]) -> bool:
        """Read the counters of topics that have clients, where they may have changed; tell whether any did."""
        self._busy |= {topic for topic in self._topics if (concerned if topic is None else topic in concerned)}
        moment = asyncio.get_running_loop().time()
        due = [
            topic
            for topic in self._topics
            if moment - self._read_at.get(topic, -math.inf) >= (BUSY_COUNTERS if topic in self._busy else IDLE_COUNTERS)
        ]
        if not due:
            return False
        counts = await self.counters.read(due, stale=0.9 * BUSY_COUNTERS)
        self._busy -= set(due)
        self._read_at = {topic: self._read_at.get(topic, -math.inf) for topic in self._topics} | dict.fromkeys(
            due, moment
        )
        changed = {
            topic: value
            for topic, value in counts.items()
            if topic not in self._counts or self._counts[topic][1] != value
        }
        self._number += bool(changed)
        self._counts = {topic: stored for topic, stored in self._counts.items() if topic in self._topics}
        self._counts |= {topic: (self._number, value) for topic, value in changed.items()}
        return bool(changed)

    def _publish(self) -> None:
        """Wake all streams."""
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _describe(activity: ActivityLine) -> dict[str, Any]:
    address = f"/tasks/{activity.task}"
    return {"kind": activity.kind, "text": translate(activity.sentence), "task": activity.task, "address": address}


def _event(name: str, document: dict[str, Any], position: Position | None = None) -> str:
    id = f"id: {position}\n" if position else ""
    return f"{id}event: {name}\ndata: {json.dumps(document, ensure_ascii=False)}\n\n"


class WebServer(uvicorn.Server):
    """Serves the application; at a shutdown no open page keeps it waiting."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the live streams, then stop as usual."""
        await cast(FastAPI, self.config.app).state.live.close()
        await super().shutdown(sockets)
