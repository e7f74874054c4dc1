"""Health of services: breakers that leave a failing one alone, and records of the answers of models."""

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dynabench.kit.errors import Problem


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


REMEMBERED = 300
"""Calls of one model version that its health is told from."""


@dataclass(frozen=True)
class ModelHealth:
    """The results of the last calls of one model version, as this process saw them.

    They are the number of calls that were answered, the milliseconds that these took (None before the
    first), the number of calls that were not answered, and the message of the last of these.
    """

    answers: int
    failures: int
    p50_ms: float | None
    p95_ms: float | None
    last_failure: str


@dataclass
class CallRecord:
    """The last calls of one model version: milliseconds, or None where there was no answer."""

    calls: deque[float | None] = field(default_factory=lambda: deque(maxlen=REMEMBERED))
    last_failure: str = ""

    def health(self) -> ModelHealth:
        """The calls summed up; percentiles are those of the nearest rank."""
        times = sorted(call for call in self.calls if call is not None)
        rank = {share: times[min(len(times) - 1, int(share * len(times)))] if times else None for share in (0.5, 0.95)}
        failures = len(self.calls) - len(times)
        return ModelHealth(len(times), failures, rank[0.5], rank[0.95], self.last_failure if failures else "")


class CallRecords:
    """Records by model name and version; a failure that names no version stands under an empty one."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], CallRecord] = {}

    def answered(self, name: str, version: str, latency_ms: float) -> None:
        """Count an answer."""
        self._record(name, version).calls.append(latency_ms)

    @contextmanager
    def failures(self, name: str, version: str | None) -> Iterator[None]:
        """Count a problem that is raised meanwhile."""
        try:
            yield
        except Problem as problem:
            record = self._record(name, version or "")
            record.calls.append(None)
            record.last_failure = problem.detail
            raise

    def health(self) -> dict[tuple[str, str], ModelHealth]:
        """Every model version that was asked."""
        return {key: record.health() for key, record in self._records.items()}

    def _record(self, name: str, version: str) -> CallRecord:
        return self._records.setdefault((name, version), CallRecord())
