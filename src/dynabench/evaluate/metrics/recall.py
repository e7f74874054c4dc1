"""Recall."""

from dynabench.evaluate.classes.averages import Counts, DefaultedScore
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio


def recall(counts: Counts, default: float = 0.0) -> Floats:
    """Recall of each class, shape (..., K); `default` for a class that nobody has."""
    return ratio(counts.hits, counts.true, default)


class Recall(DefaultedScore):
    """The share of the examples of a class that are predicted to be of it."""

    score = staticmethod(recall)
