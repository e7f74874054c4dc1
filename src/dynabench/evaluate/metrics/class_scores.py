"""Precision, recall and F1."""

from dynabench.evaluate.classes.averages import ClassScore, Counts, DefaultedScore
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio


def precision(counts: Counts, default: float = 0.0) -> Floats:
    """Precision of each class, shape (..., K); `default` for a class that nobody predicts."""
    return ratio(counts.hits, counts.said, default)


class Precision(DefaultedScore, name="precision"):
    """The share of the examples predicted to be of a class that are of it."""

    score = staticmethod(precision)


def recall(counts: Counts, default: float = 0.0) -> Floats:
    """Recall of each class, shape (..., K); `default` for a class that nobody has."""
    return ratio(counts.hits, counts.true, default)


class Recall(DefaultedScore, name="recall"):
    """The share of the examples of a class that are predicted to be of it."""

    score = staticmethod(recall)


def f1(counts: Counts, default: float = 0.0) -> Floats:
    """F1 of each class, shape (..., K); `default` for a class that nobody has and nobody predicts."""
    return ratio(2 * counts.hits, counts.true + counts.said, default)


class F1(ClassScore, name="f1"):
    """The harmonic mean of precision and recall."""

    score = staticmethod(f1)
