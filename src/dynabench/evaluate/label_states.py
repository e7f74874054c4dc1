"""States of labels and of weighted rows."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import MIXED, Ints, Label, encode_labels, merge_labels, recode_labels
from dynabench.evaluate.states import Additive, Sums


@dataclass(frozen=True)
class LabelCounts:
    """Counts of K labels, shape (..., K), and the labels in the order of their first row."""

    counts: NDArray[Any]
    labels: tuple[Label, ...]


@dataclass(frozen=True)
class LabelState(Additive):
    """The label of each row, as codes (n,) into labels in the order of their first row."""

    codes: Ints
    labels: tuple[Label, ...]

    @classmethod
    def of(cls, column: Ints | list[str]) -> "LabelState":
        """From a clean column of labels."""
        labels, (codes,) = encode_labels(column)
        order = np.argsort(np.unique(codes, return_index=True)[1])
        return cls(np.argsort(order)[codes], tuple(labels[code] for code in order))

    def __len__(self) -> int:
        return len(self.codes)

    def __add__(self, other: "LabelState") -> "LabelState":
        labels = tuple(dict.fromkeys((*self.labels, *other.labels)))
        if len({isinstance(label, str) for label in labels}) > 1:
            raise ValueError(MIXED)
        place = {label: code for code, label in enumerate(labels)}
        table = np.array([place[label] for label in other.labels], np.int64)
        return LabelState(np.concatenate([self.codes, table[other.codes]]), labels)

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """See `Additive`: one atom for each label."""
        return self.codes, np.bincount(self.codes, minlength=len(self.labels))

    def weighed(self, counts: NDArray[Any]) -> LabelCounts:
        """See `Additive`."""
        return LabelCounts(counts, self.labels)


@dataclass(frozen=True)
class WeightedSample:
    """Rows (U, S), the weight of each in the sample or in each of many, (..., U), and the labels of coded columns."""

    rows: Floats
    weights: NDArray[Any]
    labels: tuple[Label, ...] | None = None


@dataclass(frozen=True)
class WeightedRows(Additive):
    """Rows of S numbers, shape (n, S), and their weights if they have any.

    Sorting once serves all resamples, which differ in weights alone: that is what makes this quicker than `Rows`.
    With `labels`, the first column holds codes into them, as the rows of several batches need not know the same.
    """

    rows: Floats
    weights: Floats | None = None
    labels: tuple[Label, ...] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "WeightedRows") -> "WeightedRows":
        if (self.weights is None) != (other.weights is None):
            raise ValueError("weigh all batches or none")
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        if self.labels is None or other.labels is None:
            return WeightedRows(_stack(self.rows, other.rows), weights)
        labels = merge_labels(self.labels, other.labels)
        return WeightedRows(_stack(self.over(labels).rows, other.over(labels).rows), weights, labels)

    def over(self, labels: tuple[Label, ...]) -> "WeightedRows":
        """Return the same rows with codes into `labels`, which contain the labels of this state."""
        if self.labels is None or labels == self.labels:
            return self
        codes = recode_labels(self.labels, labels)[self.rows[:, 0].astype(np.int64)]
        return replace(self, rows=np.column_stack([codes, self.rows[:, 1:]]), labels=labels)

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """One atom for each different row, or for each row where most of them differ."""
        return self._atom_sums.atoms

    @cached_property
    def _atom_sums(self) -> Sums:
        return Sums(self.rows if self.weights is None else np.column_stack([self.rows, self.weights]))

    def total(self) -> WeightedSample:
        """All rows, each weighing 1 or its weight."""
        return WeightedSample(self.rows, np.ones(len(self.rows)) if self.weights is None else self.weights, self.labels)

    def weighed(self, counts: NDArray[Any]) -> WeightedSample:
        """See `Additive`."""
        values = self._atom_sums.values
        if self.weights is None:
            return WeightedSample(values, counts, self.labels)
        return WeightedSample(values[:, :-1], counts * values[:, -1], self.labels)


def _stack(first: Floats, second: Floats) -> Floats:
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"batches have {first.shape[1]} and {second.shape[1]} columns; give all batches the same")
    return np.concatenate([first, second])
