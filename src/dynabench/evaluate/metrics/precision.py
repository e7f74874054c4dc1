"""Precision."""

from dynabench.evaluate.classes.averages import Counts, DefaultedScore
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio


def precision(counts: Counts, default: float = 0.0) -> Floats:
    """Precision of each class, shape (..., K); `default` for a class that nobody predicts."""
    return ratio(counts.hits, counts.said, default)


class Precision(DefaultedScore):
    """The share of the examples predicted to be of a class that are of it."""

    score = staticmethod(precision)
