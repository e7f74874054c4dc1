"""Pearson's correlation."""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.correlations import Correlation
from dynabench.evaluate.numbers.moments import Moments, correlation


def pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a Pearson correlation of n pairs, under independence of normally distributed numbers.

    (1 - |r|) / 2 is then distributed as Beta(n/2 - 1, n/2 - 1). 1 for two pairs, where |r| is always 1.
    """
    from scipy.special import betainc

    shape = n / 2 - 1
    return 1.0 if n == 2 else float(2 * betainc(shape, shape, (1 - abs(correlation)) / 2))


class Pearsonr(Correlation):
    """How well a straight line describes the relation of predictions and references."""

    pvalue = staticmethod(pvalue)

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """The pairs."""
        return Moments(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"pearsonr": correlation(total)}
