"""Times of inference, and of nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

PERCENTILES = (50, 95, 99)


@dataclass
class Timing:
    """Seconds of encoding all rows once, and of each batch with its number of rows and tokens."""

    encoding: float = 0.0
    seconds: list[float] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    tokens: list[int | None] = field(default_factory=list)

    def add(self, seconds: float, rows: int, tokens: int | None) -> None:
        """Add the time of one batch."""
        self.seconds.append(seconds)
        self.rows.append(rows)
        self.tokens.append(tokens)

    def result(self) -> dict[str, Any]:
        """Return seconds in all, samples a second, seconds a sample, percentiles of the latter, and tokens a second.

        The latency of an example is its batch's time over the batch's rows, and its share of the encoding; with
        batch_size=1 that is the time to its answer. Rates are None where the clock did not move.
        """
        n, total = sum(self.rows), self.encoding + sum(self.seconds)
        figures: dict[str, Any] = {
            "total_time_in_seconds": total,
            "samples_per_second": n / total if total > 0 else None,
            "latency_in_seconds": total / n,
        }
        latencies = np.repeat(np.array(self.seconds) / np.array(self.rows), self.rows) + self.encoding / n
        for percent, value in zip(PERCENTILES, _percentiles(latencies), strict=True):
            figures[f"latency_p{percent}_in_seconds"] = value
        token_counts = [count for count in self.tokens if count is not None]
        if len(token_counts) == len(self.tokens):
            figures["tokens_per_second"] = sum(token_counts) / total if total > 0 else None
        return figures


def _percentiles(values: Sequence[float] | Any) -> list[float]:
    return [float(value) for value in np.percentile(values, PERCENTILES)]
