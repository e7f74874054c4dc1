"""One line of the report: a figure, the anchor that it was measured against in the same run, and the budget."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """`value` and `anchor` in `unit`; `ratio` is value / anchor unless given; `holds` says whether the budget does."""

    subject: str
    value: float
    unit: str
    anchor_name: str = ""
    anchor: float | None = None
    budget: str = ""
    holds: bool | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Return the value divided by its anchor, None without an anchor."""
        return self.value / self.anchor if self.anchor else None


def median_ms(call: Callable[[], object], times: int, warm: int = 3) -> float:
    """Median wall time of `call` in milliseconds."""
    for _ in range(warm):
        call()
    used = []
    for _ in range(times):
        begun = time.perf_counter()
        call()
        used.append((time.perf_counter() - begun) * 1000)
    return statistics.median(used)
