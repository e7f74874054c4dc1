"""A breaker: what has failed several times in a row is left alone for a moment."""

import threading
import time


class Breaker:
    """The recent successes and failures of a service, which tell when to leave it alone.

    Any number of threads may share it.
    """

    def __init__(self, trips: int, pause: float) -> None:
        """It opens after `trips` failures in a row, and after each `pause` in seconds lets one call through."""
        self.failures = 0
        self._trips = trips
        self._pause = pause
        self._again = 0.0
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Seconds for which it is to be left alone; 0 for a call that may be made, and then has to be told of."""
        with self._lock:
            now = time.monotonic()
            if self.failures < self._trips:
                return 0.0
            if now < self._again:
                return self._again - now
            self._again = now + self._pause
            return 0.0

    def succeeded(self) -> None:
        """It answered, be it with a complaint."""
        with self._lock:
            self.failures = 0

    def failed(self) -> None:
        """It did not answer."""
        with self._lock:
            self.failures += 1
            self._again = time.monotonic() + self._pause
