"""Conversations with models that fail in unusual ways: the listener is told, and the next one has its turn."""

import asyncio
import threading
from types import SimpleNamespace

import pytest

from dynabench.kit.errors import Unavailable
from dynabench.models.host import compute_threads
from dynabench.models.host.engine import Streams

HELLO = [{"role": "user", "content": "Hello"}]


class Panic(BaseException):
    """An error as a library in Rust raises it instead of an exception."""


class Writer:
    """A language model that does something before it writes one word."""

    lane = "writer"
    at_once = 1
    card = SimpleNamespace(name="writer")

    def __init__(self, before):
        self._before = before

    def converse(self, messages, max_tokens):
        self._before()
        yield "Hello"


async def collect(streams, model, within=10.0):
    return [piece async for piece in streams.converse(model, HELLO, 8, within)]


def fail_with(error):
    def fail():
        raise error

    return fail


@pytest.mark.parametrize("error", [Panic("a bug"), SystemExit(1), asyncio.CancelledError(), ValueError("a bug")])
def test_whatever_a_model_raises_its_listener_is_told_and_the_next_one_is_answered(error):
    async def story():
        streams = Streams()
        async with asyncio.timeout(20):
            for _ in range(2):
                with pytest.raises(ValueError if isinstance(error, ValueError) else Unavailable, match=r"a bug|failed"):
                    await collect(streams, Writer(fail_with(error)))
            assert await collect(streams, Writer(lambda: None)) == ["Hello"]
            await streams.close()

    asyncio.run(story())


def test_a_model_that_never_goes_on_keeps_nobody_waiting_for_ever():
    async def story():
        stuck = threading.Event()
        streams = Streams(patience=0.3)
        try:
            async with asyncio.timeout(20):
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.2):
                        await collect(streams, Writer(lambda: stuck.wait(60)))
                with pytest.raises(Unavailable, match="busy"):
                    await collect(streams, Writer(lambda: None), within=0.01)
                assert await collect(streams, Writer(lambda: None)) == ["Hello"]
                assert compute_threads.has_stuck_threads()
                await streams.close()
        finally:
            stuck.set()
        while compute_threads.has_stuck_threads():
            await asyncio.sleep(0.01)

    asyncio.run(story())
