"""Spearman's rank correlation."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.correlations import INPUTS, OPTIONS, TASKS, Correlation
from dynabench.evaluate.numbers.ranks import Ranked, rank_correlation
from dynabench.language import N_


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

    card = Card(
        description=N_(
            "Spearman's rank correlation of predictions and references: whether they put the examples in the same "
            "order (1), in the opposite one (-1), or neither."
        ),
        formula=r"\rho = r(\mathrm{rank}(x), \mathrm{rank}(y)), \text{ equal values sharing their mean rank}",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(
            Output("spearmanr", "rank correlation", -1, 1, "higher"),
            Output("spearmanr_pvalue", "two-sided p-value, by Student's t", 0, 1),
        ),
        examples=(
            Example(
                "A falling relation",
                {"predictions": [10, 9, 2.5, 6, 4], "references": [1, 2, 3, 4, 5]},
                {"spearmanr": -0.7, "spearmanr_pvalue": 0.1881204043741873},
                {"return_pvalue": True},
            ),
            Example(
                "The order is right, whatever the distances",
                {"predictions": [1, 10, 100], "references": [0.1, 0.2, 0.3]},
                {"spearmanr": 1.0},
            ),
            Example(
                "References that are all the same",
                {"predictions": [1, 2, 3], "references": [4, 4, 4]},
                error="references are all 4.0",
            ),
        ),
        limits=(
            "Looks at the order only: it cannot tell whether predictions are near the references. Undefined where all "
            "predictions or all references are the same: that is refused. The p-value is an approximation that is "
            "rough below some ten examples; for two pairs it is 1."
        ),
        citation=(
            "Spearman, The proof and measurement of association between two things, American Journal of Psychology 15 "
            "(1904) 72-101."
        ),
        tasks=TASKS,
        references=("https://docs.scipy.org/doc/scipy/reference/generated/scipy.stats.spearmanr.html",),
    )
    pvalue = staticmethod(pvalue)

    def update(self, predictions: Floats, references: Floats) -> Ranked:
        """The pairs."""
        return Ranked(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `rank_correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"spearmanr": rank_correlation(total)}
