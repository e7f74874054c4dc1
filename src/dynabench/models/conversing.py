"""A reply that a model host streams: server-sent events in, pieces of text out, with limits on time."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from dynabench.kit.errors import Unavailable
from dynabench.kit.storable import UNSTORABLE
from dynabench.models.host_connection import HostConnection

QUIET = 30.0
"""Seconds between two pieces at most; the first may wait that long for its turn."""
WHOLE = 120.0
"""Seconds that a reply may take, where its model asks for no more."""
LONGEST = 100_000
"""Characters of a reply: far more than the tokens that were allowed make."""


async def pieces(
    connection: HostConnection, model: str, path: str, body: Mapping[str, Any], seconds: float
) -> AsyncIterator[str]:
    """Yield the model's reply in pieces of text; raises `Unavailable`, also in the middle."""
    loop = asyncio.get_running_loop()
    until, size = loop.time() + seconds, 0
    async with AsyncExitStack() as stack:
        async with _in_time(model, until):
            lines = await stack.enter_async_context(connection.stream(model, path, body, until))
        while True:
            async with _in_time(model, until):
                line = await anext(lines, None)
            if line is None:
                raise Unavailable(f"{model} broke off in the middle of its reply.")
            piece = _piece(model, line)
            if piece is None:
                return
            size += len(piece)
            if size > LONGEST:
                raise Unavailable(f"{model} writes without an end. Tell the owner of the task.")
            if piece:
                yield UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", piece)


@asynccontextmanager
async def _in_time(model: str, until: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout_at(min(until, asyncio.get_running_loop().time() + QUIET)):
            yield
    except TimeoutError:
        raise Unavailable(f"{model} has not gone on in time. Try again in a moment.") from None


def _piece(model: str, line: str) -> str | None:
    """The text of a line, empty for one without; None at the end. Raises `Unavailable` for what is no such event."""
    if not line.startswith("data:"):
        return ""
    try:
        event = json.loads(line[5:])
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise Unavailable(f"{model} answered something that is no reply.")
    if "error" in event:
        raise Unavailable(str(event["error"])[:500])
    if event.get("end"):
        return None
    text = event.get("text")
    if not isinstance(text, str):
        raise Unavailable(f"{model} answered something that is no reply.")
    return text
