"""Pearson's correlation."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.moments import Moments, correlation


class Pearsonr(Metric):
    """How well a straight line describes the relation of predictions and references."""

    card = Card(
        description=(
            "Pearson's product-moment correlation of predictions and references: how near the pairs lie to a straight "
            "line, and whether it rises (1) or falls (-1)."
        ),
        formula=r"r = \frac{\sum_i (x_i - \bar x)(y_i - \bar y)}"
        r"{\sqrt{\sum_i (x_i - \bar x)^2}\,\sqrt{\sum_i (y_i - \bar y)^2}}",
        inputs={
            "predictions": "predicted number of each example",
            "references": "right number of each example",
        },
        options={"return_pvalue": "True adds the two-sided p-value of the hypothesis that there is no correlation"},
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
        tasks=("tabular-regression", "sentence-similarity"),
        references=("https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.pearsonr.html",),
    )
    columns = {"predictions": Numbers(), "references": Numbers()}

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """The pairs."""
        return Moments(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"pearsonr": correlation(total)}

    def result(self, state: Any, *, return_pvalue: bool = False, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError for fewer than two rows and for a constant column."""
        refuse_constant(state.pairs, "pearsonr")
        found = super().result(state, **options)
        return {**found, "p-value": pvalue(found["pearsonr"], len(state))} if return_pvalue else found


def refuse_constant(pairs: Floats, name: str) -> None:
    """Raise ValueError where one of the columns (predictions, references), shape (n, 2), has no spread."""
    if len(pairs) < 2:
        raise ValueError(f"{name} needs at least two examples, there is one")
    for column, values in zip(("predictions", "references"), pairs.T, strict=True):
        if values.min() == values.max():
            raise ValueError(f"{column} are all {values[0]}: a constant has no correlation; use mae or mse instead")


def pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a Pearson correlation of n pairs, under independence of normally distributed numbers.

    (1 - |r|) / 2 is then distributed as Beta(n/2 - 1, n/2 - 1). 1 for two pairs, where |r| is always 1.
    """
    from scipy.special import betainc

    shape = n / 2 - 1
    return 1.0 if n == 2 else float(2 * betainc(shape, shape, (1 - abs(correlation)) / 2))
