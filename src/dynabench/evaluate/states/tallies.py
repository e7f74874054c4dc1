"""Counts of labels."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.labels import MIXED, Ints, Label, encode_labels
from dynabench.evaluate.states import Additive


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
