"""How model versions have been doing lately, as one process saw it: latency, failures, the last failure's reason."""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dynabench.errors import Problem

RECENT = 300
"""Answers that latency figures are taken over."""


@dataclass(frozen=True)
class Health:
    """One model version since the process started: answers, failures, and the latency of the last answers in ms."""

    name: str
    version: str
    answers: int
    failures: int
    p50_ms: float | None
    p95_ms: float | None
    last_failure: str
    failed_at: float | None


@dataclass
class Record:
    """What `Health` is made from."""

    answers: int = 0
    failures: int = 0
    recent: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    last_failure: str = ""
    failed_at: float | None = None

    def quantile(self, share: float) -> float | None:
        """The latency that so large a share of the last answers did not exceed (nearest rank); None without any."""
        ordered = sorted(self.recent)
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else None


class Records:
    """Records by model name and version; a failure that names no version stands under an empty one."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, str], Record] = {}

    def answered(self, name: str, version: str, latency_ms: float) -> None:
        """Count an answer."""
        record = self._records.setdefault((name, version), Record())
        record.answers += 1
        record.recent.append(latency_ms)

    @contextmanager
    def failures(self, name: str, version: str | None) -> Iterator[None]:
        """Count a problem that is raised meanwhile."""
        try:
            yield
        except Problem as problem:
            record = self._records.setdefault((name, version or ""), Record())
            record.failures += 1
            record.last_failure, record.failed_at = problem.detail, time.time()
            raise

    def all(self) -> list[Health]:
        """Every model version that was asked, by name."""
        return [
            Health(
                name,
                version,
                record.answers,
                record.failures,
                record.quantile(0.5),
                record.quantile(0.95),
                record.last_failure,
                record.failed_at,
            )
            for (name, version), record in sorted(self._records.items())
        ]
