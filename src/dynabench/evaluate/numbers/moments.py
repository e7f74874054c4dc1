"""Pairs of numbers remembered for correlations and shares of variance: sums of powers of them, without cancellation."""

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.states.summed import SummedState

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
