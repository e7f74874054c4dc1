"""Codes 0..K-1 of labels that references and predictions share."""

from collections.abc import Sequence
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Label = int | str
MIXED = "some labels are texts and some numbers; give predictions and references of one kind"
DENSE = 1 << 16  # a table of so many labels is smaller than the rows that it saves sorting


def encode_labels(*columns: Ints | list[str]) -> tuple[tuple[Label, ...], list[Ints]]:
    """Return the sorted labels that occur in any of `columns`, and each column as codes into them, shape (n,).

    Raises ValueError where one column holds texts and another numbers.
    """
    kinds = {isinstance(column, list) for column in columns if len(column)}
    if len(kinds) > 1:
        raise ValueError(MIXED)
    if kinds == {True}:
        return _texts(columns)
    return _ints([np.asarray(column, np.int64) for column in columns])


def same(first: Ints | list[str], second: Ints | list[str]) -> NDArray[np.bool_]:
    """Return where two clean columns of labels agree, shape (n,). Raises ValueError for texts against numbers."""
    if isinstance(first, list) != isinstance(second, list):
        raise ValueError(MIXED)
    return np.fromiter(map(eq, first, second), bool, len(first)) if isinstance(first, list) else first == second


def recode_labels(old: tuple[Label, ...], new: tuple[Label, ...]) -> Ints:
    """Return for each code into `old` the code of the same label in `new`, shape (len(old),)."""
    place: dict[Any, int] = {label: code for code, label in enumerate(new)}
    return np.array([place[label] for label in old], np.int64)


def merge_labels(*labels: tuple[Label, ...]) -> tuple[Label, ...]:
    """Return all labels of several tuples, sorted. Raises ValueError for texts beside numbers."""
    everything: set[Any] = set().union(*labels)
    if len({isinstance(label, str) for label in everything}) > 1:
        raise ValueError(MIXED)
    return tuple(sorted(everything))


def _texts(columns: Sequence[Any]) -> tuple[tuple[Label, ...], list[Ints]]:
    labels = sorted(set().union(*columns))
    code = {label: place for place, label in enumerate(labels)}
    return tuple(labels), [np.fromiter(map(code.__getitem__, column), np.int64, len(column)) for column in columns]


def _ints(columns: list[Ints]) -> tuple[tuple[Label, ...], list[Ints]]:
    filled = [column for column in columns if len(column)]
    if not filled:
        return (), columns
    low, high = min(int(column.min()) for column in filled), max(int(column.max()) for column in filled)
    if high - low >= DENSE:
        labels = np.unique(np.concatenate(filled))
        return tuple(labels.tolist()), [np.searchsorted(labels, column) for column in columns]
    moved = [column - low if low else column for column in columns]
    seen = np.zeros(high - low + 1, bool)
    for column in moved:
        seen[column] = True
    labels = np.flatnonzero(seen)
    if len(labels) < len(seen):
        table = np.cumsum(seen) - 1
        moved = [table[column] for column in moved]
    return tuple((labels + low).tolist()), moved
