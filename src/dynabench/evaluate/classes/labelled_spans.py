"""Labelled spans of texts, such as names with their types: the column in which they come, and how two lists are paired.

What is counted of a pairing are the notions of SemEval-2013 task 9.1 (Segura-Bedmar, Martínez and Herrero-Zazo, *SEM
2013, section 4), which are those of MUC-5 (Chinchor and Sundheim 1993): strict, exact, partial and type.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, listed

PARTLY = 0.5
"""What an overlap is worth beside the same place."""


class Span(NamedTuple):
    """A stretch from `start` to `end` (exclusive) with a label; offsets count whatever the text is counted in."""

    start: int
    end: int
    label: str


class SpanLists(Column):
    """For each example a list of spans, {start, end, label} or [start, end, label]; what else a span has is ignored."""

    dtype = "list of {start, end, label}"
    text = "spans of each example: a list of {start, end, label}, empty where there are none"

    def clean(self, values: Any, name: str) -> list[list[Span]]:
        """Spans that end before they start are refused; one that comes twice in an example counts once."""
        return [_row(item, f"{name}: row {row}") for row, item in enumerate(listed(values, name))]


def _row(item: Any, where: str) -> list[Span]:
    if isinstance(item, str | Mapping) or not isinstance(item, Sequence):
        raise ValueError(f"{where} is {item!r}; give a list of {{start, end, label}}")
    return sorted({_span(each, where) for each in item})


def _span(item: Any, where: str) -> Span:
    parts: Any = [item.get(key) for key in Span._fields] if isinstance(item, Mapping) else item
    if not isinstance(parts, Sequence) or isinstance(parts, str) or len(parts) != len(Span._fields):
        raise ValueError(f"{where} has {item!r}; a span is {{start, end, label}}")
    start, end, label = parts
    if not all(isinstance(at, int | np.integer) and not isinstance(at, bool) for at in (start, end)):
        raise ValueError(f"{where} has {item!r}; start and end are whole numbers")
    if not isinstance(label, str):
        raise ValueError(f"{where} has {item!r}; the label is a text")
    if not 0 <= start < end:
        raise ValueError(f"{where} has {item!r}; a span ends after it starts, and starts at 0 or later")
    return Span(int(start), int(end), label)


def hits(said: Sequence[Span], right: Sequence[Span]) -> tuple[float, float, float, float]:
    """What of two lists is the same: spans with place and label, places, places where an overlap is worth `PARTLY`,
    and labels of spans that overlap.

    Each span is paired with one other at most, for each of these numbers so that it is largest.
    """
    strict = len(set(said) & set(right))
    places = [Counter((span.start, span.end) for span in spans) for spans in (said, right)]
    exact = (places[0] & places[1]).total()
    if strict == exact == len(said) == len(right):
        return strict, exact, exact, exact
    weights = np.zeros((2, len(said), len(right)))
    for row, one in enumerate(said):
        for column, other in enumerate(right):
            if one.start < other.end and other.start < one.end:
                weights[0, row, column] = 1 if one[:2] == other[:2] else PARTLY
                weights[1, row, column] = one.label == other.label
    return strict, exact, _best(weights[0]), _best(weights[1])


def _best(weights: NDArray[np.float64]) -> float:
    """The largest sum of weights (n, m) of pairs in which each row and each column stands once at most."""
    from scipy.optimize import linear_sum_assignment  # tasks name metrics, and web processes start without scipy

    return float(weights[linear_sum_assignment(weights, maximize=True)].sum())
