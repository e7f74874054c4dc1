"""Heartbeats: how a watched process tells its supervisor that it lives, also while it is busy.

A thread writes a byte a second into a pipe that the supervisor made. An event loop that is merely slow does not stop
it, so that load is never taken for death; a process that is stopped, or whose loop has made no progress for
`STALLED` seconds, falls silent.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable

VARIABLE = "DYNABENCH_HEARTBEAT"
"""Environment variable with the number of the open file to write to."""
EVERY = 1.0
"""Seconds between two beats."""
STALLED = 120.0
"""Seconds without progress of the event loop after which the process no longer beats."""

_turned_at: float | None = None


def start() -> None:
    """Beat from a thread until the process ends, if a supervisor listens; processes started from here do not."""
    number = os.environ.pop(VARIABLE, "")
    if not number.isdigit():
        return
    pipe = int(number)
    os.set_inheritable(pipe, False)
    os.set_blocking(pipe, False)
    threading.Thread(target=_beat, args=(pipe,), name="heartbeat", daemon=True).start()


async def follow_loop(well: Callable[[], bool] = lambda: True) -> None:
    """Note, until cancelled, that the running event loop makes progress, as long as the process is `well`."""
    global _turned_at
    try:
        while True:
            if _turned_at is None or well():
                _turned_at = time.monotonic()
            await asyncio.sleep(EVERY)
    finally:
        _turned_at = None


def _beat(pipe: int) -> None:
    while True:
        turned_at = _turned_at
        if turned_at is None or time.monotonic() - turned_at < STALLED:
            try:
                os.write(pipe, b".")
            except BlockingIOError:
                pass  # the supervisor itself is stopped, and finds the earlier beats when it goes on
            except OSError:
                return
        time.sleep(EVERY)
