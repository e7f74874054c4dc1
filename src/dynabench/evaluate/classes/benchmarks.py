"""Shared formulas of the benchmark metrics (GLUE, SuperGLUE, IndicGLUE, XNLI)."""

from typing import Any

import numpy as np

from dynabench.evaluate.classes.averages import count_by_class
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import same
from dynabench.evaluate.metrics.class_scores import f1
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Confusion, Sums


def correct_rows(predictions: Any, references: Any) -> Sums:
    """Return the state of an accuracy: for each row whether it is right."""
    return Sums(same(predictions, references))


def accuracy(total: Floats | Confusion) -> Floats:
    """Return the share of right rows, shape (...), from the total of `correct_rows` or of cells."""
    if isinstance(total, Confusion):
        return ratio(total.hits.sum(-1), total.true.sum(-1))
    return ratio(total[..., 0], total[..., 1])


def macro_f1(total: Confusion) -> Floats:
    """Return the mean F1 over the classes that occur, shape (...)."""
    result: Floats = f1(count_by_class(total)).mean(-1)
    return result


def binary_f1(total: Confusion, config: str) -> Floats:
    """Return F1 of class 1, shape (...). Raises ValueError for classes other than 0 and 1."""
    strange = [label for label in total.labels if label not in (0, 1)]
    if strange:
        raise ValueError(f"{config} has the classes 0 and 1; {strange[0]!r} is none of them")
    if 1 not in total.labels:
        return np.zeros(total.found.shape[:-1])
    result: Floats = f1(count_by_class(total).of(1))[..., 0]
    return result
