"""Confusion matrices that hold the cells that occur: with 20,000 classes nearly all of them are empty."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.labels import Ints, Label

MAX_CELLS = 1 << 28  # cells of all matrices of a block that may be written out, 2 GiB


@dataclass(frozen=True)
class Confusion:
    """Counts (or weights) of each pair (reference, prediction) of K labels, shape (..., U).

    The U pairs that occur are `cells`: reference * K + prediction, ascending.
    """

    found: NDArray[Any]
    cells: Ints
    labels: tuple[Label, ...]

    @property
    def counts(self) -> NDArray[Any]:
        """Whole matrices, shape (..., K, K). Raises ValueError where they would not fit in memory."""
        size, shape = len(self.labels), self.found.shape[:-1]
        if int(np.prod(shape)) * size**2 > MAX_CELLS:
            raise ValueError(f"{size:,} classes make a matrix too large for memory; name fewer of them with labels=")
        whole = np.zeros((*shape, size**2), self.found.dtype)
        whole[..., self.cells] = self.found
        return whole.reshape(*shape, size, size)

    @cached_property
    def hits(self) -> NDArray[Any]:
        """The diagonals: right predictions of each label, shape (..., K)."""
        code, other = np.divmod(self.cells, max(len(self.labels), 1))
        return self._summed(code[code == other], self.found[..., code == other])

    @cached_property
    def true(self) -> NDArray[Any]:
        """Sums of rows: references of each label, shape (..., K)."""
        return self._summed(self.cells // max(len(self.labels), 1), self.found)

    @cached_property
    def said(self) -> NDArray[Any]:
        """Sums of columns: predictions of each label, shape (..., K)."""
        code = self.cells % max(len(self.labels), 1)
        order = np.argsort(code, kind="stable")
        return self._summed(code[order], self.found[..., order])

    def _summed(self, codes: Ints, parts: NDArray[Any]) -> NDArray[Any]:
        """Sums of the parts of each code, of which `codes` has one for each part, ascending."""
        sums = np.zeros((*parts.shape[:-1], len(self.labels)), parts.dtype)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        if len(starts):
            sums[..., codes[starts]] = np.add.reduceat(parts, starts, axis=-1)
        return sums
