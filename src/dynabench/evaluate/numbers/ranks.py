"""Mid-ranks of pairs of numbers, also for thousands of resamples at once without sorting any."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.numbers.moments import Moments, correlation_of_sums
from dynabench.evaluate.states import Additive, block_sizes


@dataclass(frozen=True)
class RankedPairs(Additive):
    """Pairs of numbers, shape (n, 2). Totals have shape (..., 3): the sums of u*v, u*u and v*v over rows, where u and
    v are the mid-ranks in both columns less the mean rank. They are halves, so nothing is rounded."""

    pairs: Floats

    def __len__(self) -> int:
        return len(self.pairs)

    def __add__(self, other: Self) -> Self:
        return type(self)(np.concatenate([self.pairs, other.pairs]))

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """One atom for each different pair."""
        return self._atoms[:2]

    @cached_property
    def _atoms(self) -> tuple[Ints, Ints, Ints, Ints]:
        """The atom of each row, how many rows each atom has, and the place of both its values among all, (U,)."""
        first, second = (np.unique(column, return_inverse=True)[1].ravel() for column in self.pairs.T)
        size = int(second.max()) + 1
        kinds, atom, counts = np.unique(first * size + second, return_inverse=True, return_counts=True)
        return atom.ravel(), counts, kinds // size, kinds % size

    def weighed(self, counts: NDArray[Any]) -> Floats:
        """See `Additive`."""
        u, v = (_centred(counts, places) for places in self._atoms[2:])
        weighed = counts * u
        return np.stack([np.einsum("...i,...i", *pair) for pair in ((weighed, v), (weighed, u), (counts * v, v))], -1)

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """See `Additive`. Without row k each rank moves by half the sign of its value's distance from that of k, so
        all sums follow from sums of signs."""
        _, counts, *places = self._atoms
        u, v = (_centred(counts, place) for place in places)
        to_v, to_u = (_signed(counts * other, place) for other, place in ((v, places[0]), (u, places[1])))
        both = np.concatenate([*self._concordance()])
        across = -u * v + (to_v + to_u) / 2 + both / 4
        squares = [
            -own * own + _signed(counts * own, place) + (len(self) - np.bincount(place, counts)[place]) / 4
            for own, place in ((u, places[0]), (v, places[1]))
        ]
        yield RankedPairs.weighed(self, counts) + np.stack([across, *squares], -1), counts

    def _concordance(self) -> Iterator[Floats]:
        """For each pair k the sum over rows of the product of both signs of their distance from k, in blocks."""
        _, counts, first, second = self._atoms
        first, second = first.astype(np.int32), second.astype(np.int32)
        start = 0
        for size in block_sizes(len(counts), len(counts)):
            cut = slice(start, start + size)
            signs = np.sign(first[cut, None] - first) * np.sign(second[cut, None] - second)
            yield signs @ counts.astype(float)
            start += size


@dataclass(frozen=True)
class CorrelatedPairs(RankedPairs):
    """Pairs of numbers for both correlations.

    Totals have shape (..., 3 + 6), those of `RankedPairs` and of `Moments`.
    """

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        """The total of `Moments` and that of each atom alone, shapes (6,) and (U, 6)."""
        sums = Moments(self.pairs).sums
        return sums.total(), sums.alone()[np.unique(self.atoms[0], return_index=True)[1]]

    def weighed(self, counts: NDArray[Any]) -> Floats:
        """See `Additive`."""
        return np.concatenate([super().weighed(counts), counts @ self._moments[1]], -1)

    def left_out(self) -> Iterator[tuple[Floats, Ints]]:
        """See `RankedPairs`."""
        total, alone = self._moments
        for ranks, counts in super().left_out():
            yield np.concatenate([ranks, total - alone], -1), counts


def rank_correlation(sums: Floats) -> Floats:
    """Return Spearman's correlation from totals of `RankedPairs`, shape (...); NaN where a column is constant."""
    return correlation_of_sums(*np.moveaxis(sums, -1, 0))


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
