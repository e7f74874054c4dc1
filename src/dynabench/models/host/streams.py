"""Replies of language models, handed on piece by piece while they are written."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from dynabench.kit.errors import Invalid, Unavailable
from dynabench.models.host.threads import PATIENCE, Threads, as_exception
from dynabench.models.protocol import ROLES, Conversing, Message

WAITING = 32
"""Conversations with one model that may wait for their turn; more are refused."""
MESSAGES, CHARACTERS, TOKENS = 200, 200_000, 4096
"""Limits of one call: messages, their characters together, tokens of the reply."""
CLOSING = 10.0
"""Seconds that a host which ends waits for pieces that are being written."""


@dataclass
class _Place:
    """The queue of the conversations with one model: threads that write, and the number that wait for one."""

    free: asyncio.Semaphore
    threads: Threads
    waiting: int = 0


class Streams:
    """Lets models write in threads of their own, as many at a time as each model allows. Lives on one event loop.

    A model that has not ended `patience` seconds after its listener left is given up, and its thread replaced.
    """

    def __init__(self, patience: float = PATIENCE) -> None:
        self._places: dict[str, _Place] = {}
        self._patience = patience
        self._ends: set[asyncio.Task[None]] = set()

    async def converse(
        self, model: Any, messages: Sequence[Message], max_tokens: int, within: float | None = None
    ) -> AsyncGenerator[str, None]:
        """Yield the text that the model writes next, piece by piece.

        A caller that stops listening stops the model after the piece that it is writing. Raises `Invalid` where
        the model does not converse, `Unavailable` where it cannot begin `within` so many seconds, and every
        error that the model raises, also in the middle.
        """
        if not isinstance(model, Conversing):
            raise Invalid({"model": f"{model.card.name} does not converse; language models that write text do."})
        place = self._place(model)
        if place.waiting >= WAITING:
            raise Unavailable(f"{model.card.name} is busy: {place.waiting} conversations wait. Try again in a moment.")
        place.waiting += 1
        try:
            async with asyncio.timeout(within):
                await place.free.acquire()
        except TimeoutError:
            raise Unavailable(f"{model.card.name} is busy with other conversations. Try again in a moment.") from None
        finally:
            place.waiting -= 1
        queue: asyncio.Queue[Any] = asyncio.Queue()
        gone = threading.Event()
        loop = asyncio.get_running_loop()

        def tell(what: Any) -> None:
            loop.call_soon_threadsafe(queue.put_nowait, what)

        try:
            written = place.threads.submit(_write, model, messages, max_tokens, tell, gone)
        except RuntimeError as error:  # no thread could be started
            place.free.release()
            raise Unavailable(f"{model.card.name} gave no answer: {error}.") from error
        try:
            while (piece := await queue.get()) is not None:
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            gone.set()
            end = loop.create_task(self._end(place, written))
            self._ends.add(end)
            end.add_done_callback(self._ends.discard)

    async def close(self) -> None:
        """End all threads, after the pieces that they write."""
        late: set[asyncio.Task[None]] = set()
        if self._ends:
            _done, late = await asyncio.wait(self._ends, timeout=CLOSING)
        for end in late:
            end.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        for place in self._places.values():
            await asyncio.to_thread(place.threads.close, wait=not late)

    async def _end(self, place: _Place, written: Future[None]) -> None:
        """Let the next conversation begin, not before the thread is free again or was replaced."""
        try:
            await place.threads.wait_for(written, self._patience)
        finally:
            place.free.release()

    def _place(self, model: Any) -> _Place:
        if model.lane not in self._places:
            at_once = getattr(model, "at_once", 1)
            threads = Threads(at_once, f"chat-{model.card.name}")
            self._places[model.lane] = _Place(asyncio.Semaphore(at_once), threads)
        return self._places[model.lane]


def _write(model: Conversing, messages: Sequence[Message], most: int, tell: Any, gone: threading.Event) -> None:
    """Tell each piece, then None; an exception in its place."""
    try:
        with closing(model.converse(messages, most)) as pieces:
            for piece in pieces:
                if gone.is_set():
                    return
                tell(piece)
        tell(None)
    except BaseException as error:
        tell(as_exception(error))


def asked(body: Mapping[str, Any]) -> tuple[list[Message], int]:
    """Messages and tokens at most, from a call's JSON; raises `Invalid`."""
    messages, most = body.get("messages"), body.get("max_tokens", 256)
    if type(most) is not int or not 1 <= most <= TOKENS:
        raise Invalid({"max_tokens": f"A whole number from 1 to {TOKENS} is needed."})
    if not isinstance(messages, list) or not 1 <= len(messages) <= MESSAGES:
        raise Invalid({"messages": f"A list of 1 to {MESSAGES} messages is needed."})
    for at, each in enumerate(messages):
        told = isinstance(each, dict) and set(each) == {"role", "content"} and isinstance(each["content"], str)
        if not told or each["role"] not in ROLES:
            raise Invalid({f"messages.{at}": "A message has a role (system, user, assistant) and a content, a text."})
    if sum(len(each["content"]) for each in messages) > CHARACTERS:
        raise Invalid({"messages": f"A conversation may have {CHARACTERS} characters."})
    if messages[-1]["role"] != "user":
        raise Invalid({"messages": "The last message is a user's: the model answers it."})
    return messages, most
