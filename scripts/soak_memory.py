"""Memory of processes over time: a straight line through the late part of a life, and a verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

FLAT = 2.0
"""MiB a minute that a process may grow by."""
TELLING = 300.0
"""Seconds of life from which growth is judged."""
SURE = 2.0
"""Standard errors that a slope has to be away from `FLAT` before anything is said of it."""

Sample = tuple[float, float]
"""Seconds, and MiB held then."""


@dataclass(frozen=True)
class Growth:
    """One process: how long it was seen (s), what it held in the end (MiB), and the slope of the last two thirds of its
    life with its standard error (MiB a minute; infinite where too few samples tell)."""

    role: str
    lives: int
    life: float
    size: float
    slope: float
    error: float

    @property
    def verdict(self) -> str:
        """`flat`, `grows`, `unclear` where the uncertainty reaches across the limit, or `too short`."""
        if self.life <= TELLING:
            return "too short"
        if self.slope - SURE * self.error > FLAT:
            return "grows"
        return "flat" if self.slope + SURE * self.error <= FLAT else "unclear"

    @property
    def slope_text(self) -> str:
        """The slope with its standard error."""
        return f"{self.slope:+.2f} ± {self.error:.2f} MiB/min" if math.isfinite(self.error) else "too few samples"


def growth(role: str, lives: Sequence[Sequence[Sample]]) -> Growth:
    """Return the growth of the process of a role that lived longest."""
    longest = max(lives, key=lambda samples: samples[-1][0] - samples[0][0])
    late = longest[len(longest) // 3 :]
    return Growth(role, len(lives), longest[-1][0] - longest[0][0], longest[-1][1], *slope(late))


def slope(samples: Sequence[Sample]) -> tuple[float, float]:
    """MiB a minute by least squares, and its standard error.

    Memory of one moment is much like that of the moment before, which the usual formula takes for independent. So it is
    told with as many measurements as the residuals are worth, n (1 - r) / (1 + r) for their autocorrelation r at lag 1
    (Santer et al., Journal of Geophysical Research 105, 2000).
    """
    if len(samples) < 4:
        return 0.0, math.inf
    seconds, held = np.array(samples).T
    minutes = (seconds - seconds.mean()) / 60
    spread = float(minutes @ minutes)
    rate = float(minutes @ held) / spread
    remaining = held - held.mean() - rate * minutes
    squares = float(remaining @ remaining)
    alike = min(max(float(remaining[:-1] @ remaining[1:]) / squares, 0.0), 0.99) if squares else 0.0
    worth = max(len(samples) * (1 - alike) / (1 + alike), 3.0)
    return rate, math.sqrt(squares / (worth - 2) / spread)
