"""A state for rank statistics: the rows stay as they are, and a resample is a weight for each of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints, Label, merge_labels, recode_labels
from dynabench.evaluate.states import Additive, Sums


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
        return self._kept.atoms

    @cached_property
    def _kept(self) -> Sums:
        return Sums(self.rows if self.weights is None else np.column_stack([self.rows, self.weights]))

    def total(self) -> WeightedSample:
        """All rows, each weighing 1 or its weight."""
        return WeightedSample(self.rows, np.ones(len(self.rows)) if self.weights is None else self.weights, self.labels)

    def weighed(self, counts: NDArray[Any]) -> WeightedSample:
        """See `Additive`."""
        values = self._kept.values
        if self.weights is None:
            return WeightedSample(values, counts, self.labels)
        return WeightedSample(values[:, :-1], counts * values[:, -1], self.labels)


def _stack(first: Floats, second: Floats) -> Floats:
    if first.shape[1] != second.shape[1]:
        raise ValueError(f"batches have {first.shape[1]} and {second.shape[1]} columns; give all batches the same")
    return np.concatenate([first, second])
