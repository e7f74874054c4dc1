"""Spearman's rank correlation."""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.correlations import Correlation
from dynabench.evaluate.numbers.ranks import Ranked, rank_correlation


def pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a rank correlation of n pairs, by Student's t with n - 2 degrees of freedom."""
    from scipy.special import stdtr

    free = n - 2
    if not free:
        return 1.0
    rest = (1 - correlation) * (1 + correlation)
    return float(2 * stdtr(free, -abs(correlation) * np.sqrt(free / rest))) if rest > 0 else 0.0


class Spearmanr(Correlation):
    """How well a rising or falling relation describes predictions and references."""

    pvalue = staticmethod(pvalue)

    def update(self, predictions: Floats, references: Floats) -> Ranked:
        """The pairs."""
        return Ranked(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `rank_correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"spearmanr": rank_correlation(total)}
