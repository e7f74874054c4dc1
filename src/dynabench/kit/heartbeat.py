"""Heartbeats: how a watched process tells its supervisor that it lives, also while it is busy.

A thread writes a byte a second into a pipe that the supervisor made. An event loop that is merely slow does not stop
it, so that load is never taken for death; a process that is stopped, that does not get to its loop in `STARTING`
seconds, or whose loop has made no progress for `STALLED` seconds, falls silent.
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
STARTING = 900.0
"""Seconds that a process has before its loop makes progress: it may have to bring the database up to date first."""

_beats_until = 0.0


def start() -> None:
    """Beat from a thread, if a supervisor listens, as long as `progress` is noted; processes started from here do
    not."""
    progress(STARTING)
    number = os.environ.pop(VARIABLE, "")
    if not number.isdigit():
        return
    pipe = int(number)
    os.set_inheritable(pipe, False)
    os.set_blocking(pipe, False)
    threading.Thread(target=_beat, args=(pipe,), name="heartbeat", daemon=True).start()


def progress(seconds: float | None = None) -> None:
    """Note that the process makes progress: it beats on for `seconds`, `STALLED` by default."""
    global _beats_until
    _beats_until = time.monotonic() + (STALLED if seconds is None else seconds)


async def follow_loop(well: Callable[[], bool] = lambda: True) -> None:
    """Note, until cancelled, that the running event loop makes progress, as long as the process is `well`."""
    while True:
        if well():
            progress()
        await asyncio.sleep(EVERY)


def _beat(pipe: int) -> None:
    while True:
        if time.monotonic() < _beats_until:
            try:
                os.write(pipe, b".")
            except BlockingIOError:
                pass  # the supervisor itself is stopped, and finds the earlier beats when it goes on
            except OSError:
                return
        time.sleep(EVERY)
