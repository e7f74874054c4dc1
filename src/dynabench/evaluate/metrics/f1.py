"""F1."""

from dynabench.evaluate.classes.averages import ClassScore, Counts
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio


def f1(counts: Counts, default: float = 0.0) -> Floats:
    """F1 of each class, shape (..., K); `default` for a class that nobody has and nobody predicts."""
    return ratio(2 * counts.hits, counts.true + counts.said, default)


class F1(ClassScore):
    """The harmonic mean of precision and recall."""

    score = staticmethod(f1)
