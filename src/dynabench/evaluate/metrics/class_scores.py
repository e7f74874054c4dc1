"""Precision, recall and F1."""

from dynabench.evaluate.classes.averages import ClassCounts, ClassScore, DefaultedScore
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio


def precision(counts: ClassCounts, default: float = 0.0) -> Floats:
    """Return the precision of each class, shape (..., K); `default` for a class that is never predicted."""
    return ratio(counts.hits, counts.said, default)


class Precision(DefaultedScore, name="precision"):
    """The share of the examples predicted to be of a class that are of it."""

    score = staticmethod(precision)


def recall(counts: ClassCounts, default: float = 0.0) -> Floats:
    """Return the recall of each class, shape (..., K); `default` for a class without examples."""
    return ratio(counts.hits, counts.true, default)


class Recall(DefaultedScore, name="recall"):
    """The share of the examples of a class that are predicted to be of it."""

    score = staticmethod(recall)


def f1(counts: ClassCounts, default: float = 0.0) -> Floats:
    """Return F1 of each class, shape (..., K); `default` for a class without examples that is never predicted."""
    return ratio(2 * counts.hits, counts.true + counts.said, default)


class F1(ClassScore, name="f1"):
    """The harmonic mean of precision and recall."""

    score = staticmethod(f1)
