"""Counts of each label in each example: the state of metrics of tagged sequences."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.classes.averages import ClassCounts
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import merge_labels, recode_labels
from dynabench.evaluate.states import Sums
from dynabench.evaluate.states.summed import SummedState


@dataclass(frozen=True)
class TagTotals:
    """Counts of each label, and numbers of right tokens and of all tokens, each of shape (...)."""

    counts: ClassCounts
    right: NDArray[Any]
    tokens: NDArray[Any]


@dataclass(frozen=True)
class TagTallies(SummedState):
    """Counts of hits, true and predicted chunks by example and label, shape (n, K, 3), and the K labels.

    `tokens`, shape (n, 2), counts right tokens and all tokens. `scheme` says how the labels were read.
    """

    counts: NDArray[Any]
    tokens: NDArray[Any]
    labels: tuple[str, ...]
    scheme: str = ""

    def __add__(self, other: "TagTallies") -> "TagTallies":
        if self.scheme != other.scheme:
            raise ValueError(
                f"one batch was read as {self.scheme} and another as {other.scheme}; say which it is with scheme="
            )
        labels = merge_labels(self.labels, other.labels)
        counts = np.concatenate([side._over(labels) for side in (self, other)])
        return TagTallies(counts, np.concatenate([self.tokens, other.tokens]), tuple(map(str, labels)), self.scheme)

    def _over(self, labels: tuple[Any, ...]) -> NDArray[Any]:
        wide = np.zeros((len(self.counts), len(labels), 3), self.counts.dtype)
        wide[:, recode_labels(self.labels, labels)] = self.counts
        return wide

    @cached_property
    def sums(self) -> Sums:
        """A row for each example: its counts, then its tokens."""
        return Sums(np.concatenate([self.counts.reshape(len(self.counts), -1), self.tokens], axis=1))

    def wrapped(self, total: Floats) -> TagTotals:
        """See `SummedState`."""
        size = len(self.labels)
        label_counts = total[..., : 3 * size].reshape(*total.shape[:-1], size, 3)
        counts = ClassCounts(label_counts[..., 0], label_counts[..., 1], label_counts[..., 2], self.labels)
        return TagTotals(counts, total[..., -3], total[..., -2])


def by_label(scores: Mapping[str, Any], labels: tuple[str, ...], names: Mapping[str, str]) -> dict[str, Any]:
    """Return {label: {key: value}} from {name: list with a value for each label}.

    `names` gives the name of each key.
    """
    return {label: {key: scores[name][place] for key, name in names.items()} for place, label in enumerate(labels)}


def intervals_by_label(
    intervals: Mapping[str, Any], labels: tuple[str, ...], names: Mapping[str, str]
) -> dict[str, Any]:
    """Return {label: {key: interval}} from intervals whose limits and errors are lists with a value for each label."""
    return {
        label: {
            key: {part: value[place] if isinstance(value, list) else value for part, value in intervals[name].items()}
            for key, name in names.items()
        }
        for place, label in enumerate(labels)
    }


def check_same_lengths(predictions: list[list[str]], references: list[list[str]]) -> None:
    """Raise ValueError where a row has not as many predicted tags as right ones."""
    for row, (predicted, true) in enumerate(zip(predictions, references, strict=True)):
        if len(predicted) != len(true):
            raise ValueError(
                f"predictions: row {row} has {len(predicted)} tags, its reference {len(true)}; give one for each token"
            )
