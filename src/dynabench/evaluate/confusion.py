"""Confusion matrices: pairs of reference and prediction, their counts, and the state that keeps them.

Only the pairs that occur are kept, so that a thousand classes need no matrix of a million cells.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import DENSE, Ints, Label, encode_labels, merge_labels, recode_labels
from dynabench.evaluate.states import BLOCK, Additive

MAX_CELLS = 1 << 28  # cells of all matrices of a block that may be written out, 2 GiB


@dataclass(frozen=True)
class Confusion:
    """Counts (or weights) of each pair (reference, prediction) of K labels, shape (..., U).

    The U pairs that occur are `cells`: reference * K + prediction, ascending.
    """

    cell_counts: NDArray[Any]
    cells: Ints
    labels: tuple[Label, ...]

    @property
    def counts(self) -> NDArray[Any]:
        """Whole matrices, shape (..., K, K). Raises ValueError where they would not fit in memory."""
        size, shape = len(self.labels), self.cell_counts.shape[:-1]
        if int(np.prod(shape)) * size**2 > MAX_CELLS:
            raise ValueError(f"{size:,} classes make a matrix too large for memory; name fewer of them with labels=")
        whole = np.zeros((*shape, size**2), self.cell_counts.dtype)
        whole[..., self.cells] = self.cell_counts
        return whole.reshape(*shape, size, size)

    @cached_property
    def hits(self) -> NDArray[Any]:
        """The diagonals: right predictions of each label, shape (..., K)."""
        code, other = np.divmod(self.cells, max(len(self.labels), 1))
        return self._summed(code[code == other], self.cell_counts[..., code == other])

    @cached_property
    def true(self) -> NDArray[Any]:
        """Sums of rows: references of each label, shape (..., K)."""
        return self._summed(self.cells // max(len(self.labels), 1), self.cell_counts)

    @cached_property
    def predicted(self) -> NDArray[Any]:
        """Sums of columns: predictions of each label, shape (..., K)."""
        code = self.cells % max(len(self.labels), 1)
        order = np.argsort(code, kind="stable")
        return self._summed(code[order], self.cell_counts[..., order])

    def _summed(self, codes: Ints, parts: NDArray[Any]) -> NDArray[Any]:
        """Sums of the parts of each code, of which `codes` has one for each part, ascending."""
        sums = np.zeros((*parts.shape[:-1], len(self.labels)), parts.dtype)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        if len(starts):
            sums[..., codes[starts]] = np.add.reduceat(parts, starts, axis=-1)
        return sums


@dataclass(frozen=True)
class Cells(Additive):
    """The pair (reference, prediction) of each row, as reference * K + prediction, and its weight if it has one."""

    cells: Ints
    labels: tuple[Label, ...]
    weights: Floats | None = None

    @classmethod
    def of(cls, references: Ints | list[str], predictions: Ints | list[str], weights: Floats | None = None) -> "Cells":
        """From two clean columns of labels, each of n rows."""
        labels, (true, predicted) = encode_labels(references, predictions)
        return cls(true * len(labels) + predicted, labels, weights)

    def __len__(self) -> int:
        return len(self.cells)

    def __add__(self, other: "Cells") -> "Cells":
        labels = merge_labels(self.labels, other.labels)
        if (self.weights is None) != (other.weights is None):
            raise ValueError("weigh all batches or none")
        weights = None
        if self.weights is not None and other.weights is not None:
            weights = np.concatenate([self.weights, other.weights])
        return Cells(np.concatenate([self.over(labels).cells, other.over(labels).cells]), labels, weights)

    def over(self, labels: tuple[Label, ...]) -> "Cells":
        """Return the same rows with codes into `labels`, which contain the labels of this state."""
        if labels == self.labels:
            return self
        table = recode_labels(self.labels, labels)
        true, predicted = self.pairs()
        return Cells(table[true] * len(labels) + table[predicted], labels, self.weights)

    def pairs(self) -> tuple[Ints, Ints]:
        """Codes of references and of predictions, each of shape (n,)."""
        true, predicted = np.divmod(self.cells, max(len(self.labels), 1))
        return true, predicted

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """One atom for each cell (and weight) that occurs."""
        return self._atoms[:2]

    @cached_property
    def _atoms(self) -> tuple[Ints, Ints, Ints, Floats | None]:
        """The atoms, how often each comes, its cell and the weight of its rows."""
        if self.weights is None and not self._few:
            kinds, kind, counts = np.unique(self.cells, return_inverse=True, return_counts=True)
            return kind.ravel(), counts, kinds, None
        if self.weights is None:
            counts = np.bincount(self.cells, minlength=len(self.labels) ** 2)
            kinds = np.flatnonzero(counts)
            table = np.zeros(len(counts), np.int64)
            table[kinds] = np.arange(len(kinds))
            return table[self.cells], counts[kinds], kinds, None
        pairs, kind, counts = np.unique(
            np.stack([self.cells.astype(float), self.weights], 1), axis=0, return_inverse=True, return_counts=True
        )
        return kind.ravel(), counts, pairs[:, 0].astype(np.int64), pairs[:, 1]

    def total(self) -> Confusion:
        """The confusion matrix."""
        if not self._few:
            return self.weighed(self.atoms[1])
        sums = np.bincount(self.cells, self.weights, minlength=len(self.labels) ** 2)
        kinds = np.flatnonzero(sums)
        return Confusion(sums[kinds], kinds, self.labels)

    def weighed(self, counts: NDArray[Any]) -> Confusion:
        """See `Additive`."""
        _, _, cells, weights = self._atoms
        if weights is None or not len(cells):
            return Confusion(counts, cells, self.labels)
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        return Confusion(np.add.reduceat(counts * weights, starts, axis=-1), cells[starts], self.labels)

    @property
    def width(self) -> int:
        """See `Additive`; four whole matrices of a thousand classes, if their formula asks for them."""
        return max(len(self.atoms[1]), min(len(self.labels) ** 2, BLOCK // 4))

    @property
    def _few(self) -> bool:  # whether a table of all cells is small, or not much larger than the rows
        return len(self.labels) ** 2 <= max(DENSE, 4 * len(self.cells))
