"""A lock for computing: many jobs side by side, or one alone.

One alone is for measurements, so that the load of other jobs is not measured with them.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 0.5
"""Seconds between two looks at whether a turn is still wanted."""
PATIENCE = 30.0
"""Seconds that others are held up while a holder waits to be alone; then they have a moment, and it waits again."""


class ComputeTurns:
    """A lock that many share or one holds alone; a holder that waits to be alone goes before those that come later."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._sharing = 0
        self._alone = False
        self._waiting = 0

    @contextmanager
    def shared(self, still_wanted: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Beside others. `still_wanted` is called while waiting; what it raises ends the wait."""
        with self._changed:
            self._wait(lambda: not self._alone and not self._waiting, still_wanted)
            self._sharing += 1
        try:
            yield
        finally:
            with self._changed:
                self._sharing -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self, still_wanted: Callable[[], None] = lambda: None) -> Iterator[None]:
        """With nobody beside."""
        with self._changed:
            while not self._alone_soon(still_wanted):
                self._changed.wait(EVERY)
        try:
            yield
        finally:
            with self._changed:
                self._alone = False
                self._changed.notify_all()

    def _alone_soon(self, still_wanted: Callable[[], None]) -> bool:
        """Take the turn of one that is alone; False where a long job goes on and others have waited long enough."""
        until = time.monotonic() + PATIENCE
        self._waiting += 1
        try:
            self._wait(lambda: not (self._alone or self._sharing) or time.monotonic() > until, still_wanted)
            if self._alone or self._sharing:
                return False
            self._alone = True
            return True
        finally:
            self._waiting -= 1
            self._changed.notify_all()

    def _wait(self, free: Callable[[], bool], still_wanted: Callable[[], None]) -> None:
        while not self._changed.wait_for(free, EVERY):
            still_wanted()


TURNS = ComputeTurns()
"""The turns of this process, which is the worker."""
