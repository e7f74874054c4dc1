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
class Ranked(Rows):
    """Two columns of n numbers. Totals have shape (..., 3): the sums of u*v, u*u and v*v over rows, where u and v are
    the mid-ranks in both columns less the mean rank. They are halves, so nothing is rounded."""

    def __add__(self, other: Rows) -> "Ranked":
        return Ranked(super().__add__(other).columns)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The pair of each row, shape (n,); of each different pair its count and the place of both values, (U,)."""
        first, second = (np.unique(column, return_inverse=True)[1].ravel() for column in self.columns)
        size = int(second.max()) + 1
        kinds, pair, counts = np.unique(first * size + second, return_inverse=True, return_counts=True)
        return pair.ravel(), counts, kinds // size, kinds % size

    def total(self) -> Any:
        """See `Rows`."""
        return self._sums(self.pairs[1])

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Any]:
        """See `Rows`."""
        counts = self.pairs[1]
        for size in blocks(times, len(counts)):
            yield self._sums(multinomial(rng, counts, size))

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """See `Rows`. Without row k each rank moves by half the sign of its value's distance from that of k, so all
        sums follow from sums of signs."""
        _, counts, *places = self.pairs
        u, v = (_centred(counts, place) for place in places)
        to_v, to_u = (_signed(counts * other, place) for other, place in ((v, places[0]), (u, places[1])))
        both = np.concatenate([*self._concordance()])
        across = -u * v + (to_v + to_u) / 2 + both / 4
        squares = [
            -own * own + _signed(counts * own, place) + (len(self) - np.bincount(place, counts)[place]) / 4
            for own, place in ((u, places[0]), (v, places[1]))
        ]
        yield self.total() + np.stack([across, *squares], -1), counts

    def at(self, rows: Ints) -> Any:
        """See `Rows`."""
        pair, counts, *_ = self.pairs
        size = len(counts)
        codes = pair[rows] + np.arange(len(rows))[:, None] * size
        return self._sums(np.bincount(codes.ravel(), minlength=len(rows) * size).reshape(len(rows), size))

    def _sums(self, counts: NDArray[Any]) -> Floats:
        u, v = (_centred(counts, places) for places in self.pairs[2:])
        weighed = counts * u
        return np.stack([np.einsum("...i,...i", *pair) for pair in ((weighed, v), (weighed, u), (counts * v, v))], -1)

    def _concordance(self) -> Iterator[Floats]:
        """For each pair k the sum over rows of the product of both signs of their distance from k, in blocks."""
        _, counts, first, second = self.pairs
        first, second = first.astype(np.int32), second.astype(np.int32)
        start = 0
        for size in blocks(len(counts), len(counts)):
            cut = slice(start, start + size)
            signs = np.sign(first[cut, None] - first) * np.sign(second[cut, None] - second)
            yield signs @ counts.astype(float)
            start += size


def rank_correlation(sums: Floats) -> Floats:
    """Spearman's correlation from totals of `Ranked`, shape (...); NaN where a column is constant."""
    across, first, second = np.moveaxis(sums, -1, 0)
    result: Floats = np.clip(ratio(across, np.sqrt(first * second), np.nan), -1, 1)
    return result


def _centred(counts: NDArray[Any], places: Ints) -> Floats:
    """The mid-rank of each pair less the mean rank, shape (..., U): half of (rows below - rows above)."""
    order = np.argsort(places, kind="stable")
    starts = np.flatnonzero(np.diff(places[order], prepend=-1))
    same = counts if (order[1:] > order[:-1]).all() else counts[..., order]
    same = same if len(starts) == len(order) else np.add.reduceat(same, starts, axis=-1)
    upto = np.cumsum(same, axis=-1)
    middle = (2 * upto - same - upto[..., -1:]) / 2
    result: Floats = middle if len(starts) == len(order) and same is counts else middle[..., places]
    return result


def _signed(values: Floats, places: Ints) -> Floats:
    """For each k the sum of values at smaller places less that at greater ones, shape (U,)."""
    sums = np.bincount(places, values)
    upto = np.cumsum(sums)
    result: Floats = (2 * upto - sums - upto[-1])[places]
    return result
