"""States: what a module keeps of its rows, and how it is merged and resampled.

`Cells` (in `confusion.py`) is for metrics of a confusion matrix, `Sums` for means and corpus metrics whose rows add
up, `Rows` for rank statistics and everything else. Each keeps its rows in the smallest form: so merging is joining,
the result of merged batches is the result of all rows at once, scores per example come for free, and several systems
can be resampled together. Where few rows differ, resampling draws how often each of them comes (one multinomial,
whatever n is) instead of drawing n rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints

BLOCK = 1 << 22  # numbers that a block of resamples may hold


class State(Protocol):
    """Rows in their smallest form. `total` is what the metric's formula takes; blocks of totals have a leading axis."""

    def __len__(self) -> int:
        """Number of rows."""

    def __add__(self, other: Self) -> Self:
        """The rows of both, in order."""

    def total(self) -> Any:
        """The formula's argument for all rows."""

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Any]:
        """Totals as if the n rows were drawn again with replacement, `times` of them, in blocks."""

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """Totals without one row, in blocks, with how many rows give each."""

    def at(self, rows: Ints) -> Any:
        """Totals of the rows with these numbers, shape (b, n): a block."""


class Additive:
    """A state whose total is a sum over rows, of which each is one of U kinds ("atoms")."""

    quick: ClassVar[bool] = False  # whether leaving out each atom takes time that grows with U, not with its square

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """The atom of each row, shape (n,), and how many rows each atom has, shape (U,)."""
        raise NotImplementedError

    def weighed(self, counts: NDArray[Any]) -> Any:
        """Return totals for these counts of the atoms, shape (..., U)."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """The approximate number of values in one total of a block."""
        return len(self.atoms[1])

    def total(self) -> Any:
        """The sum over all rows."""
        return self.weighed(self.atoms[1])

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Any]:
        """See `State`."""
        counts = self.atoms[1]
        for size in block_sizes(times, self.width):
            yield self.weighed(multinomial(rng, counts, size))

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """See `State`."""
        counts = self.atoms[1]
        start = 0
        for size in block_sizes(len(counts), self.width):
            yield (
                self.weighed(counts - np.eye(size, len(counts), start, dtype=np.int64)),
                counts[start : start + size],
            )
            start += size

    def at(self, rows: Ints) -> Any:
        """See `State`."""
        kinds, counts = self.atoms
        size = len(counts)
        codes = kinds[rows] + np.arange(len(rows))[:, None] * size
        return self.weighed(np.bincount(codes.ravel(), minlength=len(rows) * size).reshape(len(rows), size))


@dataclass(frozen=True)
class Sums(Additive):
    """Rows of S numbers that add up, shape (n, S). Their formula takes totals of shape (..., S + 1): the sums and,
    last, the number of rows, so that a mean is `total[..., 0] / total[..., -1]`."""

    quick: ClassVar[bool] = True
    rows: NDArray[Any]

    def __post_init__(self) -> None:
        if self.rows.ndim == 1:
            object.__setattr__(self, "rows", self.rows[:, None])

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "Sums") -> "Sums":
        return Sums(np.concatenate([self.rows, other.rows]))

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """One atom for each different row, or for each row where most of them differ."""
        return self._atoms[:2]

    @cached_property
    def _atoms(self) -> tuple[Ints, Ints, Floats]:
        """The atom of each row, how many rows each atom has, and the atoms' totals, shape (U, S + 1)."""
        n = len(self.rows)
        if self.rows.shape[1] == 1 and self.rows.dtype == bool:
            hits = int(np.count_nonzero(self.rows))
            return self.rows[:, 0].astype(np.int64), np.array([n - hits, hits]), np.array([[0.0, 1.0], [1.0, 1.0]])
        sample = self.rows[:: max(n // 1000, 1)]
        if n and len(np.unique(sample, axis=0)) <= len(sample) / 2:
            values, kind, counts = np.unique(self.rows, axis=0, return_inverse=True, return_counts=True)
            return kind.ravel(), counts, _append_counts(values)
        return np.arange(n), np.ones(n, np.int64), self.alone()

    @property
    def values(self) -> Floats:
        """The row of each atom, shape (U, S)."""
        return self._atoms[2][:, :-1]

    @property
    def totals(self) -> Floats:
        """The total of each atom alone, shape (U, S + 1)."""
        return self._atoms[2]

    def alone(self) -> Floats:
        """The total of each row alone, shape (n, S + 1)."""
        return _append_counts(self.rows)

    def total(self) -> Floats:
        """The sums over all rows and their number, shape (S + 1,)."""
        counting = self.rows.dtype == bool
        sums = np.count_nonzero(self.rows, axis=0) if counting else self.rows.sum(0, dtype=float)
        return np.append(sums, float(len(self.rows)))

    def weighed(self, counts: NDArray[Any]) -> Floats:
        """See `Additive`."""
        result: Floats = counts.astype(float) @ self._atoms[2]
        return result

    def left_out(self) -> Iterator[tuple[Floats, Ints]]:
        """All sums without one row at once: no block is needed."""
        _, counts, values = self._atoms
        yield self.total() - values, counts


@dataclass(frozen=True)
class Rows:
    """Columns of n rows as they are: arrays whose first axis is the rows. Their formula takes arrays (..., n)."""

    columns: tuple[NDArray[Any], ...]

    def __len__(self) -> int:
        return len(self.columns[0])

    def __add__(self, other: "Rows") -> "Rows":
        return Rows(tuple(np.concatenate(pair) for pair in zip(self.columns, other.columns, strict=True)))

    def total(self) -> tuple[NDArray[Any], ...]:
        """The columns."""
        return self.columns

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[tuple[NDArray[Any], ...]]:
        """See `State`; blocks have shape (b, n)."""
        n = len(self)
        for size in block_sizes(times, n):
            yield self.at(rng.integers(0, n, (size, n)))

    def left_out(self) -> Iterator[tuple[tuple[NDArray[Any], ...], Ints]]:
        """See `State`; blocks have shape (b, n - 1)."""
        n = len(self)
        start = 0
        for size in block_sizes(n, n):
            others = np.arange(n - 1)[None, :] + (np.arange(n - 1)[None, :] >= np.arange(start, start + size)[:, None])
            yield self.at(others), np.ones(size, np.int64)
            start += size

    def at(self, rows: Ints) -> tuple[NDArray[Any], ...]:
        """See `State`."""
        return tuple(column[rows] for column in self.columns)


def _append_counts(rows: NDArray[Any]) -> Floats:
    return np.concatenate([rows.astype(float), np.ones((len(rows), 1))], axis=1)


def block_sizes(times: int, width: int) -> Iterator[int]:
    """Yield sizes that add up to `times`, so that size * width stays within memory."""
    size = max(BLOCK // max(width, 1), 1)
    for start in range(0, times, size):
        yield min(size, times - start)


def multinomial(rng: np.random.Generator, counts: Ints, times: int) -> Ints:
    """Return counts of each atom among sum(counts) rows drawn with replacement; shape (times, U)."""
    n = int(counts.sum())
    if len(counts) == n:  # as many atoms as rows: drawing rows and counting is quicker than one binomial an atom
        drawn = rng.integers(0, n, (times, n)) + np.arange(times)[:, None] * n
        return np.bincount(drawn.ravel(), minlength=times * n).reshape(times, n)
    return rng.multinomial(n, counts / n, size=times)


RowType = TypeVar("RowType")


@dataclass(frozen=True)
class ListState(Generic[RowType]):
    """Any rows, in order. It can be merged, but has no intervals."""

    rows: tuple[RowType, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "ListState[RowType]") -> "ListState[RowType]":
        return ListState(self.rows + other.rows)

    def total(self) -> tuple[RowType, ...]:
        """The rows."""
        return self.rows


class SummedState(Additive):
    """A state whose `sums` has one row for each example; `wrapped` makes the formula's argument from sums."""

    quick: ClassVar[bool] = True

    @cached_property
    def sums(self) -> Sums:
        """Numbers of each example that add up."""
        raise NotImplementedError

    def wrapped(self, total: Floats) -> Any:
        """The formula's argument from sums of shape (..., S + 1), of which the last counts examples."""
        return total

    def __len__(self) -> int:
        return len(self.sums)

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """See `Additive`."""
        return self.sums.atoms

    def weighed(self, counts: NDArray[Any]) -> Any:
        """See `Additive`."""
        return self.wrapped(self.sums.weighed(counts))

    def total(self) -> Any:
        """See `State`."""
        return self.wrapped(self.sums.total())

    def left_out(self) -> Iterator[tuple[Any, Ints]]:
        """See `State`."""
        return ((self.wrapped(block), counts) for block, counts in self.sums.left_out())
