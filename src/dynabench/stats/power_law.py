"""Zipf's law: the discrete power law that fits the upper part of counts, and a test of whether it fits at all.

Counts x of `least` and more follow p(x) = x^-alpha / zeta(alpha, least). Alpha is the maximum of the likelihood,
`least` has the smallest distance (Kolmogorov and Smirnov) between data and law, and the p value of the fit is the
share of data sets drawn from the law, fitted in the same way, that lie farther from their law. Words that are ranked by
frequency then fall with exponent 1 / (alpha - 1). Source: Clauset, Shalizi and Newman, Power-law distributions in
empirical data, SIAM Review 51 (2009), sections 3 and 4. A Kolmogorov-Smirnov test against tables would be wrong: the
parameters are fitted to the same data.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
STARTS = 50
"""Values of `least` that are tried, spread evenly over the logarithms of counts."""
LEAST_ABOVE = 10
"""Different words that the fitted part has at least."""
STEPS = 60
LOWEST, HIGHEST = 1.01, 6.0
"""Limits of alpha."""
TABLE = 200_000
"""Values of the law that are drawn exactly; beyond, it is drawn as if it were continuous."""


@dataclass(frozen=True)
class CountHistogram:
    """Different counts in ascending order, and how many words have each; both of shape (U,)."""

    values: Ints
    words: Ints

    @classmethod
    def of(cls, counts: ArrayLike) -> "CountHistogram":
        """Return the histogram of counts of 1 and more."""
        values, words = np.unique(np.asarray(counts, np.int64), return_counts=True)
        here = values > 0
        return cls(values[here], words[here].astype(np.int64))

    @cached_property
    def above(self) -> Ints:
        """Return the number of words with each count or a larger one, shape (U,)."""
        return self.words[::-1].cumsum()[::-1]


@dataclass(frozen=True)
class PowerLaw:
    """A fitted law: `distance` from the `words` with counts of `least` and more; `exponent` is that of ranks."""

    alpha: float
    least: int
    distance: float
    words: int

    @property
    def exponent(self) -> float:
        """Return the exponent of frequency over rank."""
        return 1 / (self.alpha - 1)


def fit_power_law(counts: CountHistogram, starts: int = STARTS) -> PowerLaw | None:
    """Return the law that fits best; None where fewer than `LEAST_ABOVE` words or two counts are left to fit."""
    enough = np.flatnonzero((counts.above >= LEAST_ABOVE) & (np.arange(len(counts.values)) < len(counts.values) - 1))
    if not len(enough):
        return None
    if len(enough) > starts:
        logs = np.log(counts.values[enough])
        positions = np.linspace(logs[0], logs[-1], starts)
        enough = enough[np.unique(np.abs(logs[:, None] - positions).argmin(0))]
    alphas = _fit_alphas(counts, enough)
    distances = np.array(
        [_distance(counts, place, alpha) for place, alpha in zip(enough.tolist(), alphas, strict=True)]
    )
    best = int(distances.argmin())
    place = int(enough[best])
    return PowerLaw(float(alphas[best]), int(counts.values[place]), float(distances[best]), int(counts.above[place]))


def fit_p_value(counts: CountHistogram, law: PowerLaw, times: int, rng: np.random.Generator) -> float:
    """Return the share of `times` data sets drawn from the law that fit worse; small values speak against the law.

    Counts below the law's `least` are drawn from those of the data, as in the source.
    """
    below = counts.values < law.least
    total, lower = int(counts.words.sum()), counts.words[below]
    worse = 0
    for _draw in range(times):
        upper = int(rng.binomial(total, law.words / total))
        drawn: dict[int, int] = {}
        if len(lower):
            times_of = rng.multinomial(total - upper, lower / lower.sum())
            drawn = dict(zip(counts.values[below].tolist(), times_of.tolist(), strict=True))
        values, words = _draw_law(law, upper, rng)
        for value, count in zip(values.tolist(), words.tolist(), strict=True):
            drawn[value] = drawn.get(value, 0) + count
        ordered = np.array(sorted((value, count) for value, count in drawn.items() if count), np.int64).reshape(-1, 2)
        again = fit_power_law(CountHistogram(ordered[:, 0], ordered[:, 1]))
        worse += again is None or again.distance >= law.distance
    return worse / times


def _fit_alphas(counts: CountHistogram, places: Ints) -> Floats:
    """Maximise the likelihood for all starts side by side (it is concave), by golden sections; shape (starts,)."""
    from scipy.special import zeta

    logs = (counts.words * np.log(counts.values))[::-1].cumsum()[::-1][places]
    sizes, least = counts.above[places].astype(float), counts.values[places].astype(float)
    low, high = np.full(len(places), LOWEST), np.full(len(places), HIGHEST)
    section = (5**0.5 - 1) / 2
    for _step in range(STEPS):
        lower_alpha, upper_alpha = high - section * (high - low), low + section * (high - low)
        losses = [alpha * logs + sizes * np.log(zeta(alpha, least)) for alpha in (lower_alpha, upper_alpha)]
        better = losses[0] < losses[1]
        low, high = np.where(better, low, lower_alpha), np.where(better, upper_alpha, high)
    result: Floats = (low + high) / 2
    return result


def _distance(counts: CountHistogram, place: int, alpha: float) -> float:
    from scipy.special import zeta

    values, words = counts.values[place:], counts.words[place:]
    seen = words.cumsum() / counts.above[place]
    expected = 1 - zeta(alpha, values + 1.0) / zeta(alpha, float(values[0]))
    return float(np.abs(seen - expected).max())


def _draw_law(law: PowerLaw, size: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return values of the law and how often each was drawn."""
    from scipy.special import zeta

    table = np.arange(law.least, law.least + TABLE)
    shares = table**-law.alpha / zeta(law.alpha, float(law.least))
    beyond = max(1 - float(shares.sum()), 0.0)
    drawn = rng.multinomial(size, np.append(shares, beyond) / (shares.sum() + beyond))
    far, times = np.unique(
        np.minimum((law.least + TABLE) * rng.random(drawn[-1]) ** (-1 / (law.alpha - 1)), 2.0**60).astype(np.int64),
        return_counts=True,
    )
    here = drawn[:-1] > 0
    return np.concatenate([table[here], far]), np.concatenate([drawn[:-1][here], times]).astype(np.int64)
