"""Pearson's correlation, and Spearman's of ranks."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Column, Floats, Numbers
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Additive, SummedState, Sums, block_sizes
from dynabench.evaluate.values import ratio

ROUNDING = 1e-13  # a variance below this share of the mean square is what rounding leaves of a constant


@dataclass(frozen=True)
class Moments(SummedState):
    """Pairs (u, v), shape (n, 2). Totals of shape (..., 6): sums of u, v, u*u, v*v, u*v, and the number of pairs.

    Before they are summed, both columns are moved to mean 0 and scaled to at most 1 (of all rows that are here, so
    merged batches give what all rows give). That changes no correlation, and it keeps the digits that subtracting
    large squares from each other would lose. `shifted` says which columns may be moved.
    """

    pairs: Floats
    shifted: tuple[bool, bool] = (True, True)
    alike: bool = False  # whether both columns are scaled by the same number

    def __len__(self) -> int:
        return len(self.pairs)

    def __add__(self, other: Self) -> Self:
        return type(self)(np.concatenate([self.pairs, other.pairs]), self.shifted, self.alike)

    @cached_property
    def sums(self) -> Sums:
        """The rows that add up."""
        pairs = self.pairs / _size(self.pairs, self.alike)
        level = pairs.min(0) == pairs.max(0)
        pairs = np.where(self.shifted, np.where(level, 0.0, pairs - pairs.mean(0)), pairs)
        u, v = (pairs / _size(pairs, self.alike)).T
        return Sums(np.stack([u, v, u * u, v * v, u * v], 1))


def correlation(total: Floats) -> Floats:
    """Pearson's correlation of each total of `Moments`, shape (...); NaN where a column is constant."""
    u, v, uu, vv, uv, n = np.moveaxis(total, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        across = uv - u * v / n
    first, second = centred_squares(uu, u, n), centred_squares(vv, v, n)
    return correlation_of_sums(across, first, second)


def correlation_of_sums(across: Floats, first: Floats, second: Floats) -> Floats:
    """The correlation from sums of products and of squares about the mean; NaN where one of the latter is 0."""
    result: Floats = np.clip(ratio(across, np.sqrt(first * second), np.nan), -1, 1)
    return result


def centred_squares(square: Floats, plain: Floats, n: Floats) -> Floats:
    """The sum of squares about the mean, from sums of squares and of values; 0 for a constant."""
    rest = square - ratio(plain * plain, n)
    return np.where(rest > ROUNDING * square, rest, 0.0)


def _size(pairs: Floats, alike: bool) -> Floats:
    size = np.abs(pairs).max(0)
    if alike:
        size = np.full(2, size.max())
    return np.where(size > 0, size, 1.0)


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


class Correlation(Metric):
    """A correlation, whose state has `pairs` (n, 2), and its p-value: the first and second output of its card."""

    columns: ClassVar[Mapping[str, Column]] = {"predictions": Numbers(), "references": Numbers()}
    pvalue: Callable[[float, int], float]  # of the correlation and the number of pairs

    def result(self, state: Any, *, return_pvalue: bool = False, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError for fewer than two rows and for a constant column."""
        key, chance = (output.name for output in self.card.outputs)
        require_spread(state.pairs, key)
        scores = super().result(state, **options)
        return {**scores, chance: self.pvalue(scores[key], len(state))} if return_pvalue else scores


def require_spread(pairs: Floats, name: str) -> None:
    """Raise ValueError where one of the columns (predictions, references), shape (n, 2), has no spread."""
    if len(pairs) < 2:
        raise ValueError(f"{name} needs at least two examples, there is one")
    for column, values in zip(("predictions", "references"), pairs.T, strict=True):
        if values.min() == values.max():
            raise ValueError(f"{column} are all {values[0]}: a constant has no correlation; use mae or mse instead")


def pearson_pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a Pearson correlation of n pairs, under independence of normally distributed numbers.

    (1 - |r|) / 2 is then distributed as Beta(n/2 - 1, n/2 - 1). 1 for two pairs, where |r| is always 1.
    """
    from scipy.special import betainc

    shape = n / 2 - 1
    return 1.0 if n == 2 else float(2 * betainc(shape, shape, (1 - abs(correlation)) / 2))


class Pearsonr(Correlation, name="pearsonr"):
    """Measures how well a straight line describes the relation of predictions and references."""

    pvalue = staticmethod(pearson_pvalue)

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """The pairs."""
        return Moments(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"pearsonr": correlation(total)}


def spearman_pvalue(correlation: float, n: int) -> float:
    """Two-sided p-value of a rank correlation of n pairs, by Student's t with n - 2 degrees of freedom."""
    from scipy.special import stdtr

    free = n - 2
    if not free:
        return 1.0
    rest = (1 - correlation) * (1 + correlation)
    return float(2 * stdtr(free, -abs(correlation) * np.sqrt(free / rest))) if rest > 0 else 0.0


class Spearmanr(Correlation, name="spearmanr"):
    """Measures how well a rising or falling relation describes predictions and references."""

    pvalue = staticmethod(spearman_pvalue)

    def update(self, predictions: Floats, references: Floats) -> RankedPairs:
        """The pairs."""
        return RankedPairs(np.stack([predictions, references], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """See `rank_correlation`; NaN (left out of intervals) where a resample is constant."""
        return {"spearmanr": rank_correlation(total)}
