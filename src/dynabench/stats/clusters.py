"""Ratios of sums over clusters and their differences, where rows of one cluster resemble each other.

Rows of one annotator are not independent. Sources: Wolter, Introduction to Variance Estimation, 2nd edition
(2007), chapter 4 (the jackknife, leaving out one cluster at a time); Cameron and Miller, Journal of Human
Resources 50 (2015) 317-372, section VI (Student's t with few clusters).
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClusteredEstimate:
    """A ratio, or a difference of two, with its interval; `p` is the two-sided p value of its being 0.

    `value` is None where nothing was counted; limits and `p` are None with fewer than two clusters, or with
    clusters that do not differ at all.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None


def ratio(k: ArrayLike, n: ArrayLike, level: float = 0.95) -> ClusteredEstimate:
    """Return sum(k) / sum(n) over clusters, both of shape (clusters,): seconds by examples, for instance."""
    nothing = np.zeros(len(np.asarray(n)))
    return _estimate(_Sums.of(k, n), _Sums.of(nothing, nothing), level)


def difference(
    first_k: ArrayLike, first_n: ArrayLike, second_k: ArrayLike, second_n: ArrayLike, level: float = 0.95
) -> ClusteredEstimate:
    """Return the first ratio minus the second, over the same clusters; all of shape (clusters,), 0 for no rows.

    Right both where each cluster is in one group alone (people who were assigned to arms) and where clusters are
    in both (items of each person were): what a cluster adds to either ratio is left out together. The t quantile
    has the degrees of freedom of the group with fewer clusters.
    """
    first, second = _Sums.of(first_k, first_n), _Sums.of(second_k, second_n)
    if first.total == 0 or second.total == 0:
        return ClusteredEstimate()
    return _estimate(first, second, level)


@dataclass(frozen=True)
class _Sums:
    k: Floats
    n: Floats

    @classmethod
    def of(cls, k: ArrayLike, n: ArrayLike) -> "_Sums":
        sums = cls(np.asarray(k, float), np.asarray(n, float))
        if sums.k.shape != sums.n.shape or sums.k.ndim != 1:
            raise ValueError(f"sums need one shape (clusters,), not {sums.k.shape} and {sums.n.shape}")
        return sums

    @property
    def total(self) -> float:
        return float(self.n.sum())

    @property
    def clusters(self) -> int:
        return int((self.n > 0).sum())

    @property
    def value(self) -> float:
        return float(self.k.sum()) / self.total if self.total else 0.0

    def influence(self) -> Floats:
        """By how much the ratio falls when one cluster is left out; shape (clusters,)."""
        remaining = self.total - self.n
        result: Floats = np.divide(
            self.k - self.value * self.n, remaining, out=np.zeros(len(remaining)), where=remaining > 0
        )
        return result


def _estimate(first: _Sums, second: _Sums, level: float) -> ClusteredEstimate:
    if not first.total:
        return ClusteredEstimate()
    value = first.value - second.value
    used = int(((first.n > 0) | (second.n > 0)).sum())
    freedom = min(side.clusters for side in (first, second) if side.total) - 1
    moved = first.influence() - second.influence()
    error = sqrt((used - 1) / used * float(moved @ moved))
    if freedom < 1 or error <= 1e-12 * max(abs(value), 1):
        return ClusteredEstimate(value)
    from scipy.special import (
        stdtr,
        stdtrit,
    )  # a quarter of a second to import, which the web process need not start with

    half = float(stdtrit(freedom, 0.5 + level / 2)) * error
    return ClusteredEstimate(value, value - half, value + half, float(2 * stdtr(freedom, -abs(value) / error)))
