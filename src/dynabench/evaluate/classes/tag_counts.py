"""Counts of each label in each example: what metrics of tagged sequences remember."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.classes.averages import Counts
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import joined, recoded
from dynabench.evaluate.states import Sums
from dynabench.evaluate.states.summed import Summed


@dataclass(frozen=True)
class Tally:
    """Counts of each label, and of right tokens and all tokens, the latter of shape (...)."""

    counts: Counts
    right: NDArray[Any]
    tokens: NDArray[Any]


@dataclass(frozen=True)
class Tallies(Summed):
    """Of each example and label how many were hit, are true and were said, shape (n, K, 3), and the K labels.

    `tokens`, shape (n, 2), counts right tokens and all tokens. `scheme` is how the labels were read, where it matters.
    """

    counts: NDArray[Any]
    tokens: NDArray[Any]
    labels: tuple[str, ...]
    scheme: str = ""

    def __add__(self, other: "Tallies") -> "Tallies":
        if self.scheme != other.scheme:
            raise ValueError(
                f"one batch was read as {self.scheme} and another as {other.scheme}; say which it is with scheme="
            )
        labels = joined(self.labels, other.labels)
        counts = np.concatenate([one._over(labels) for one in (self, other)])
        return Tallies(counts, np.concatenate([self.tokens, other.tokens]), tuple(map(str, labels)), self.scheme)

    def _over(self, labels: tuple[Any, ...]) -> NDArray[Any]:
        wide = np.zeros((len(self.counts), len(labels), 3), self.counts.dtype)
        wide[:, recoded(self.labels, labels)] = self.counts
        return wide

    @cached_property
    def sums(self) -> Sums:
        """A row for each example: its counts, then its tokens."""
        return Sums(np.concatenate([self.counts.reshape(len(self.counts), -1), self.tokens], axis=1))

    def wrapped(self, total: Floats) -> Tally:
        """See `Summed`."""
        size = len(self.labels)
        each = total[..., : 3 * size].reshape(*total.shape[:-1], size, 3)
        counts = Counts(each[..., 0], each[..., 1], each[..., 2], self.labels)
        return Tally(counts, total[..., -3], total[..., -2])


def by_label(found: Mapping[str, Any], labels: tuple[str, ...], names: Mapping[str, str]) -> dict[str, Any]:
    """{label: {key: value}} from {name: list with a value for each label}; `names` gives the name of each key."""
    return {label: {key: found[name][place] for key, name in names.items()} for place, label in enumerate(labels)}


def intervals_by_label(found: Mapping[str, Any], labels: tuple[str, ...], names: Mapping[str, str]) -> dict[str, Any]:
    """The same for intervals, whose limits and errors are lists with a value for each label."""
    return {
        label: {
            key: {part: value[place] if isinstance(value, list) else value for part, value in found[name].items()}
            for key, name in names.items()
        }
        for place, label in enumerate(labels)
    }


def same_lengths(predictions: list[list[str]], references: list[list[str]]) -> None:
    """Raises ValueError where a row has not as many predicted tags as right ones."""
    for row, (said, true) in enumerate(zip(predictions, references, strict=True)):
        if len(said) != len(true):
            raise ValueError(
                f"predictions: row {row} has {len(said)} tags, its reference {len(true)}; give one for each token"
            )
