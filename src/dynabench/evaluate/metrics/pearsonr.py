"""Pearson's correlation."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.correlations import INPUTS, OPTIONS, TASKS, Correlation
from dynabench.evaluate.numbers.moments import Moments, correlation
from dynabench.language import N_


def pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a Pearson correlation of n pairs, under independence of normally distributed numbers.

    (1 - |r|) / 2 is then distributed as Beta(n/2 - 1, n/2 - 1). 1 for two pairs, where |r| is always 1.
    """
    from scipy.special import betainc

    shape = n / 2 - 1
    return 1.0 if n == 2 else float(2 * betainc(shape, shape, (1 - abs(correlation)) / 2))


class Pearsonr(Correlation):
    """How well a straight line describes the relation of predictions and references."""

    card = Card(
        description=N_(
            "Pearson's product-moment correlation of predictions and references: how near the pairs lie to a straight "
            "line, and whether it rises (1) or falls (-1)."
        ),
        formula=r"r = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}"
        r"{\sqrt{\sum_i (x_i - \bar x)^2}\,\sqrt{\sum_i (y_i - \bar y)^2}}",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(
            Output("pearsonr", "correlation", -1, 1, "higher"),
            Output("p-value", "two-sided p-value, for normally distributed numbers", 0, 1),
        ),
        examples=(
            Example(
                "A falling relation",
                {"predictions": [10, 9, 2.5, 6, 4], "references": [1, 2, 3, 4, 5]},
                {"pearsonr": -0.7426106572325057, "p-value": 0.15055580885344558},
                {"return_pvalue": True},
            ),
            Example("Two pairs always lie on a line", {"predictions": [1, 2], "references": [5, 9]}, {"pearsonr": 1.0}),
            Example(
                "Predictions that are all the same",
                {"predictions": [2, 2, 2], "references": [1, 2, 3]},
                error="predictions are all 2.0",
            ),
        ),
        limits=(
            "Says nothing of the scale: predictions that are twice as large, or off by a constant, correlate as well; "
            "look at mae beside it. One outlier can make or break it. Undefined where all predictions or all "
            "references are the same: that is refused. The p-value supposes normally distributed numbers; for two "
            "pairs it is 1."
        ),
        citation="Pearson, Notes on regression and inheritance in the case of two parents, Proc. R. Soc. 58 (1895).",
        tasks=TASKS,
        references=("https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.pearsonr.html",),
    )
    pvalue = staticmethod(pvalue)

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """The pairs."""
        return Moments(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"pearsonr": correlation(total)}
