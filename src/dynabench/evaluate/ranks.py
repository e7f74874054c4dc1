"""Mid-ranks of pairs of numbers, also for thousands of resamples at once without sorting any."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Rows, blocks, multinomial


@dataclass(frozen=True)
class Drawn:
    """How often each of U pairs comes, shape (..., U), and the place of its values among the sorted ones, (U,)."""

    counts: NDArray[Any]
    first: Ints
    second: Ints


@dataclass(frozen=True)
class Ranked(Rows):
    """Two columns of n numbers. Totals are `Drawn`: from the sorted values and their counts follow all ranks."""

    def __add__(self, other: Rows) -> "Ranked":
        return Ranked(super().__add__(other).columns)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The pair of each row, shape (n,); of each different pair its count and both values' places, (U,)."""
        first, second = (np.unique(column, return_inverse=True)[1].ravel() for column in self.columns)
        size = int(second.max()) + 1
        kinds, pair, counts = np.unique(first * size + second, return_inverse=True, return_counts=True)
        return pair.ravel(), counts, kinds // size, kinds % size

    def total(self) -> Any:
        """See `Rows`."""
        return self._drawn(self.pairs[1])

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Any]:
        """See `Rows`."""
        counts = self.pairs[1]
        for size in blocks(times, len(counts)):
            yield self._drawn(multinomial(rng, counts, size))

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """See `Rows`."""
        counts = self.pairs[1]
        start = 0
        for size in blocks(len(counts), len(counts)):
            without = counts - np.eye(size, len(counts), start, dtype=np.int64)
            yield self._drawn(without), counts[start : start + size]
            start += size

    def at(self, rows: Ints) -> Any:
        """See `Rows`."""
        pair, counts, *_ = self.pairs
        size = len(counts)
        codes = pair[rows] + np.arange(len(rows))[:, None] * size
        return self._drawn(np.bincount(codes.ravel(), minlength=len(rows) * size).reshape(len(rows), size))

    def _drawn(self, counts: NDArray[Any]) -> Drawn:
        return Drawn(counts, *self.pairs[2:])


def rank_correlation(drawn: Drawn) -> Floats:
    """Spearman's correlation, shape (...): Pearson's of mid-ranks; NaN where a column is constant.

    Ranks are counted from their mean, in halves: so nothing is rounded before the last division.
    """
    counts = drawn.counts
    u, v = (_centred(counts, places) for places in (drawn.first, drawn.second))
    across, first, second = ((counts * a * b).sum(-1) for a, b in ((u, v), (u, u), (v, v)))
    result: Floats = np.clip(ratio(across, np.sqrt(first * second), np.nan), -1, 1)
    return result


def _centred(counts: NDArray[Any], places: Ints) -> Floats:
    """The mid-rank of each pair less the mean rank, shape (..., U): half of (rows below - rows above)."""
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    same = np.add.reduceat(counts[..., order], starts, axis=-1)
    upto = np.cumsum(same, axis=-1)
    result: Floats = (upto - same - (upto[..., -1:] - upto))[..., places] / 2
    return result
