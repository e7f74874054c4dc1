"""A breaker for each endpoint: after several failures in a row it is left alone for a moment."""

import threading
import time
from functools import cache

from dynabench.errors import Unavailable

TRIPS = 4
"""Failures in a row after which an endpoint is left alone."""
PAUSE = 10.0
"""Seconds for which it is; then one call tries it."""


class Breaker:
    """How an endpoint has been doing lately; shared by all models of this process that are served there."""

    def __init__(self, pause: float = PAUSE) -> None:
        self._pause = pause
        self._failures = 0
        self._again = 0.0
        self._lock = threading.Lock()

    def admit(self, host: str) -> None:
        """Raise `Unavailable` while the endpoint is left alone; lets one call through after each pause."""
        with self._lock:
            now = time.monotonic()
            if self._failures < TRIPS:
                return
            if now < self._again:
                told = f"{host} has failed {self._failures} times in a row and is left alone for a moment."
                raise Unavailable(told, retry_after=int(self._again - now) + 1)
            self._again = now + self._pause

    def succeeded(self) -> None:
        """It answered, be it with a complaint."""
        with self._lock:
            self._failures = 0

    def failed(self) -> None:
        """It did not answer."""
        with self._lock:
            self._failures += 1
            self._again = time.monotonic() + self._pause


@cache
def breaker(origin: str) -> Breaker:
    """The breaker of `scheme://host:port`."""
    return Breaker()
