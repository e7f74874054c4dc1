"""Rates with intervals, and the model error rates of a round.

Sources: Wilson, JASA 22 (1927) 209-212; Dean and Pagano, Journal of Survey Statistics and Methodology 3
(2015) 484-503 (Wilson's interval with the effective sample size); Korn and Graubard, Survey Methodology 24
(1998) 193-201 (correction for few clusters); Wolter, Introduction to Variance Estimation, 2nd edition (2007),
chapter 4 (the jackknife, leaving out one cluster at a time); Zou and Donner, Statistics in Medicine 27 (2008)
1693-1702 (difference of two correlated rates from their separate limits).

MER = fooled / examples. vMER = fooled and found correct / examples, as the Dynabench paper defines it. vMER
(resolved) = fooled and found correct / (not fooled + fooled with a final verdict): the value of vMER without
the examples that still wait for votes. Examples without a known outcome (fooled or not) are in none of the
three, neither above nor below the line.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
FEW_ROWS = 30
"""Rows below which a share says little: its interval is then some 35 points wide at worst."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share (or a difference of two) with its interval; value and limits are None where `n`, the base, is 0."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True, slots=True)
class HumanModelGap:
    """Human accuracy, the models' accuracy on the same items, and the first minus the second; `n` counts items."""

    human: Rate
    model: Rate
    difference: Rate


UNKNOWN = Rate(None, None, None, 0)


def wilson(k: float, n: int, level: float = 0.95) -> Rate:
    """Return `k` of `n` independent examples with Wilson's score interval; `k` may be an expected number.

    Raises ValueError unless 0 <= k <= n.
    """
    if not 0 <= k <= n:
        raise ValueError(f"a rate needs 0 <= k <= n, not k={k}, n={n}")
    if n == 0:
        return UNKNOWN
    z = NormalDist().inv_cdf(0.5 + level / 2)
    return Rate(k / n, *_score(k / n, n, z), n)


def clustered_rate(k_by_cluster: ArrayLike, n_by_cluster: ArrayLike, level: float = 0.95) -> Rate:
    """Return sum(k) / sum(n) where the examples of one cluster (one annotator, one item) resemble each other.

    Both arguments have shape (clusters,). The variance of the ratio is the jackknife's, leaving out one cluster
    at a time; the effective sample size that follows from it, never above n, goes into Wilson's interval with the
    t quantile of clusters - 1 degrees of freedom. At 0 and 1, where no variance can be estimated, a cluster
    counts as one example. One cluster says nothing about others: its interval is 0 to 1. Raises ValueError unless
    0 <= k <= n in each cluster.
    """
    k, n = _counts(k_by_cluster, n_by_cluster)
    if not n.size:
        return UNKNOWN
    total = float(n.sum())
    value = float(k.sum()) / total
    if n.size == 1:
        return Rate(value, 0.0, 1.0, round(total))
    variance = _jackknife(_influence(k, n))
    if 0 < value < 1 and variance > 0:
        effective = min(value * (1 - value) / variance, total)
    else:
        effective = total if 0 < value < 1 else float(n.size)
    return Rate(value, *_score(value, effective, _student(level, n.size - 1)), round(total))


def human_model_gap(
    human_right: Sequence[float] | Floats,
    human_answers: Sequence[float] | Floats,
    model_right: Sequence[float] | Floats,
    model_answers: Sequence[float] | Floats,
    level: float = 0.95,
) -> HumanModelGap:
    """Return human accuracy minus model accuracy on the same items; all arguments have shape (items,).

    Items that lack a human or a model answer are left out. Human accuracy is right answers / answers; each item's
    share of right models is weighted by its number of human answers, so that both stand on the same mix of items
    even where disputed items were answered more often. Limits: clustered by item, joined for the difference by
    Zou and Donner's method with the correlation of the two.
    """
    human_k, human_n = np.asarray(human_right, float), np.asarray(human_answers, float)
    model_k, model_n = np.asarray(model_right, float), np.asarray(model_answers, float)
    both = (human_n > 0) & (model_n > 0)
    if not both.any():
        return HumanModelGap(UNKNOWN, UNKNOWN, UNKNOWN)
    right, weight = human_k[both], human_n[both]
    share = weight * (model_k[both] / model_n[both])
    items = int(both.sum())
    human, model = (
        _over(clustered_rate(right, weight, level), items),
        _over(clustered_rate(share, weight, level), items),
    )
    return HumanModelGap(human, model, _difference(human, model, _correlation(right, share, weight)))


def rate_difference(first: Rate, second: Rate) -> Rate:
    """Return `first` - `second` of rates over different examples; `n` counts both. Unknown where either is.

    Limits: Zou and Donner's from those of the two, which for Wilson's are Newcombe's.
    """
    if first.value is None or second.value is None:
        return UNKNOWN
    return _over(_difference(first, second, 0.0), first.n + second.n)


def _difference(first: Rate, second: Rate, correlation: float) -> Rate:
    """Zou and Donner's limits for `first` - `second`, which both have a value."""
    a, a_low, a_high = _limits(first)
    b, b_low, b_high = _limits(second)
    down, up = a - a_low, a_high - a
    other_down, other_up = b - b_low, b_high - b
    low = a - b - sqrt(max(down**2 - 2 * correlation * down * other_up + other_up**2, 0.0))
    high = a - b + sqrt(max(up**2 - 2 * correlation * up * other_down + other_down**2, 0.0))
    return Rate(a - b, max(low, -1.0), min(high, 1.0), first.n)


def _correlation(first: Floats, second: Floats, n: Floats) -> float:
    """Correlation of two ratios over the same clusters; 0 where one of them does not vary."""
    if n.size == 1:
        return 0.0
    x, y = _influence(first, n), _influence(second, n)
    scale = sqrt(float(x @ x) * float(y @ y))
    return float(np.clip(x @ y / scale, -1, 1)) if scale > 1e-15 else 0.0


def _influence(k: Floats, n: Floats) -> Floats:
    """By how much the ratio sum(k) / sum(n) falls when one cluster is left out; shape (clusters,), at least two."""
    total = n.sum()
    result: Floats = (k - k.sum() / total * n) / (total - n)
    return result


def _jackknife(influence: Floats) -> float:
    m = influence.size
    return float((m - 1) / m * influence @ influence)


def _score(value: float, n: float, z: float) -> tuple[float, float]:
    """Limits of Wilson's interval; the limit at an observed 0 or 1 is exact."""
    centre = (value + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(max(value * (1 - value), 0.0) / n + z * z / (4 * n * n))
    return (0.0 if value <= 0 else max(centre - half, 0.0)), (1.0 if value >= 1 else min(centre + half, 1.0))


def _counts(k_by_cluster: ArrayLike, n_by_cluster: ArrayLike) -> tuple[Floats, Floats]:
    k, n = np.asarray(k_by_cluster, float), np.asarray(n_by_cluster, float)
    if k.shape != n.shape or k.ndim != 1:
        raise ValueError(f"counts need one shape (clusters,), not {k.shape} and {n.shape}")
    if not (np.all(k >= 0) and np.all(k <= n + 1e-9)):
        raise ValueError("a rate needs 0 <= k <= n in each cluster")
    return k[n > 0], n[n > 0]


def _limits(rate: Rate) -> tuple[float, float, float]:
    if rate.value is None or rate.low is None or rate.high is None:
        raise ValueError("a rate without examples has no interval")
    return rate.value, rate.low, rate.high


def _over(rate: Rate, n: int) -> Rate:
    return Rate(rate.value, rate.low, rate.high, n)


def _student(level: float, freedom: int) -> float:
    from scipy.special import stdtrit  # a quarter of a second to import, which the web process need not start with

    return float(stdtrit(freedom, 0.5 + level / 2))


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """Counts of live examples that were not retracted: fooled, of these found `correct`, and with any final verdict.

    `unknown` examples have no known outcome: no model was asked, or nobody has judged its answer yet.
    """

    examples: int = 0
    fooled: int = 0
    validated: int = 0
    resolved: int = 0
    unknown: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.validated <= self.resolved <= self.fooled <= self.with_outcome <= self.examples:
            raise ValueError(f"counts need 0 <= validated <= resolved <= fooled <= examples - unknown, not {self}")

    def __add__(self, other: "ErrorCounts") -> "ErrorCounts":
        return ErrorCounts(
            self.examples + other.examples,
            self.fooled + other.fooled,
            self.validated + other.validated,
            self.resolved + other.resolved,
            self.unknown + other.unknown,
        )

    @property
    def with_outcome(self) -> int:
        """Examples with a known outcome (fooled or not): the base of MER and vMER."""
        return self.examples - self.unknown

    @property
    def settled(self) -> int:
        """Examples with a known status as validated errors: not fooled, or with a final verdict."""
        return self.with_outcome - self.fooled + self.resolved


@dataclass(frozen=True, slots=True)
class ErrorRates:
    """The three rates of one set of examples."""

    mer: Rate
    vmer: Rate
    vmer_resolved: Rate


def error_rates(counts: ErrorCounts, level: float = 0.95) -> ErrorRates:
    """Return the rates with Wilson intervals, as if examples were independent of each other."""
    return ErrorRates(
        mer=wilson(counts.fooled, counts.with_outcome, level),
        vmer=wilson(counts.validated, counts.with_outcome, level),
        vmer_resolved=wilson(counts.validated, counts.settled, level),
    )


def clustered_error_rates(by_annotator: Sequence[ErrorCounts], level: float = 0.95) -> ErrorRates:
    """Return the rates with intervals clustered by annotator: one `ErrorCounts` per person."""
    with_outcome = [counts.with_outcome for counts in by_annotator]
    validated = [counts.validated for counts in by_annotator]
    return ErrorRates(
        mer=clustered_rate([counts.fooled for counts in by_annotator], with_outcome, level),
        vmer=clustered_rate(validated, with_outcome, level),
        vmer_resolved=clustered_rate(validated, [counts.settled for counts in by_annotator], level),
    )
