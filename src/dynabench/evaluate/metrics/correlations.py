"""Pearson's correlation, and Spearman's of ranks."""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.correlations import Correlation
from dynabench.evaluate.numbers.moments import Moments, correlation
from dynabench.evaluate.numbers.ranks import RankedPairs, rank_correlation


def pearson_pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a Pearson correlation of n pairs, under independence of normally distributed numbers.

    (1 - |r|) / 2 is then distributed as Beta(n/2 - 1, n/2 - 1). 1 for two pairs, where |r| is always 1.
    """
    from scipy.special import betainc

    shape = n / 2 - 1
    return 1.0 if n == 2 else float(2 * betainc(shape, shape, (1 - abs(correlation)) / 2))


class Pearsonr(Correlation, name="pearsonr"):
    """Measures how well a straight line describes the relation of predictions and references."""

    pvalue = staticmethod(pearson_pvalue)

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """The pairs."""
        return Moments(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"pearsonr": correlation(total)}


def spearman_pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a rank correlation of n pairs, by Student's t with n - 2 degrees of freedom."""
    from scipy.special import stdtr

    free = n - 2
    if not free:
        return 1.0
    rest = (1 - correlation) * (1 + correlation)
    return float(2 * stdtr(free, -abs(correlation) * np.sqrt(free / rest))) if rest > 0 else 0.0


class Spearmanr(Correlation, name="spearmanr"):
    """Measures how well a rising or falling relation describes predictions and references."""

    pvalue = staticmethod(spearman_pvalue)

    def update(self, predictions: Floats, references: Floats) -> RankedPairs:
        """The pairs."""
        return RankedPairs(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `rank_correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"spearmanr": rank_correlation(total)}
