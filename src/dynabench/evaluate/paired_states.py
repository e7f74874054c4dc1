"""Pairs of states of two systems: resampled together, and swapped row by row.

Source: Noreen, Computer-Intensive Methods for Testing Hypotheses (1989), chapter 2.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.resampling import totals_without_groups
from dynabench.evaluate.states import Additive, Rows, State, Sums, block_sizes, multinomial

Statistic = Callable[[Any], Floats]  # the total of a state, or a block of b totals: one number, or shape (b,)
CHEAP = 8  # drawing how often an atom comes costs as much as drawing so many rows


def paired_resamples(states: Sequence[State], rng: np.random.Generator, times: int) -> Iterator[tuple[Any, ...]]:
    """Totals of all states as if the same n rows were drawn again with replacement, `times` of them, in blocks.

    Where few combinations of rows occur, one multinomial says how often each of them comes; else rows are drawn.
    Raises ValueError unless all states have the same number of rows, at least one.
    """
    n = shared_row_count(states)
    additive = [state for state in states if isinstance(state, Additive)]
    if len(additive) == len(states):
        shares, counts = joint_atoms([state.atoms[0] for state in additive])
        if len(counts) * CHEAP <= n:
            for size in block_sizes(times, len(counts)):
                drawn = multinomial(rng, counts, size)
                yield tuple(
                    state.weighed(counts_of_atoms(drawn, share, len(state.atoms[1])))
                    for state, share in zip(additive, shares, strict=True)
                )
            return
    for size in block_sizes(times, n):  # together the same rows whatever the sizes of the blocks
        rows = rng.integers(0, n, (size, n))
        yield tuple(state.at(rows) for state in states)


def jackknife(state: State, statistic: Statistic) -> Floats:
    """The statistic of all rows but one, shape (n,)."""
    values = np.concatenate([statistic(block) for block, _ in state.left_out()])
    return values[state.atoms[0]] if isinstance(state, Additive) else values


def jackknife_of_groups(state: State, statistic: Statistic) -> Floats:
    """The statistic of all rows but one of 1,000 groups, the same groups for all states of as many rows."""
    return np.concatenate([statistic(block) for block, _ in totals_without_groups(state)])


def shared_row_count(states: Sequence[State]) -> int:
    """Return the number of rows that all the states have. Raises ValueError where the numbers differ or are 0."""
    lengths = {len(state) for state in states}
    if len(lengths) != 1 or 0 in lengths:
        lengths_text = " and ".join(f"{len(state):,}" for state in states) or "no"
        raise ValueError(f"states are paired by row and need one number of rows, at least 1; they have {lengths_text}")
    return lengths.pop()


def joint_atoms(kinds: Sequence[Ints]) -> tuple[list[Ints], Ints]:
    """The combinations of atoms that rows have in several states.

    `kinds` holds the atom of each row, shape (n,), in each state. Returns for each state the atom of each of the J
    combinations, shape (J,), and how many rows have each combination, shape (J,).
    """
    code = np.zeros(len(kinds[0]), np.int64)
    for kind in kinds:
        size = int(kind.max()) + 1
        code = code * size + kind
        if code.max() > len(code):  # back to 0..J-1, so that codes never overflow
            code = np.unique(code, return_inverse=True)[1].ravel()
    counts = np.bincount(code)
    held = np.flatnonzero(counts)
    example = np.zeros(len(counts), np.int64)
    example[code] = np.arange(len(code))  # any row that has the combination
    return [kind[example[held]] for kind in kinds], counts[held]


def counts_of_atoms(counts: NDArray[Any], kinds: Ints, size: int) -> NDArray[Any]:
    """Counts of combinations, shape (..., J), as counts of the atoms 0..size-1 that they belong to, (..., size)."""
    sums = np.zeros((*counts.shape[:-1], size), counts.dtype)
    if len(kinds):
        order = np.argsort(kinds, kind="stable")
        starts = np.flatnonzero(np.diff(kinds[order], prepend=-1))
        sums[..., kinds[order[starts]]] = np.add.reduceat(counts[..., order], starts, axis=-1)
    return sums


@dataclass(frozen=True)
class Swaps:
    """The P kinds of rows in which two systems differ: how many rows are of each kind, and the rows of each system.

    `pool` is one state of the rows of both, the first system's before the second's, so that totals of both are of
    one sort, with the same set of labels for example.
    """

    pool: Any
    counts: Ints  # (P,)
    first: Ints  # (P,)
    second: Ints  # (P,)

    @property
    def ways(self) -> int:
        """The number of outcomes: of each kind none, one or up to all of its rows may be swapped."""
        return prod(int(count) + 1 for count in self.counts)

    def totals(self, swapped: NDArray[Any]) -> tuple[Any, Any]:
        """Return blocks of totals of both systems after swaps.

        `swapped`, shape (b, P), has the number of swapped rows of each kind.
        """
        raise NotImplementedError

    def drawn(self, rng: np.random.Generator, times: int) -> Iterator[NDArray[Any]]:
        """Yield the number of swapped rows of each kind when a fair coin decides on each row, in blocks (b, P)."""
        single = bool((self.counts == 1).all())
        for size in block_sizes(times, self.width):
            shape = (size, len(self.counts))
            yield rng.integers(0, 2, shape, np.int8) if single else rng.binomial(self.counts, 0.5, shape)

    def all(self) -> Iterator[tuple[NDArray[Any], Floats]]:
        """All `ways`, in blocks (b, P), with the probability of each, shape (b,)."""
        sides = tuple(int(count) + 1 for count in self.counts)
        chances = [_coins(side - 1) for side in sides]
        start = 0
        for size in block_sizes(self.ways, self.width):
            number = np.arange(start, start + size)
            swapped = np.stack(np.unravel_index(number, sides), 1) if sides else np.zeros((1, 0), np.int64)
            parts = [chance[swapped[:, kind]] for kind, chance in enumerate(chances)]
            yield swapped, np.prod(parts, axis=0) if parts else np.ones(1)
            start += size

    @property
    def width(self) -> int:
        """The number of values in one outcome."""
        return len(self.counts)


@dataclass(frozen=True)
class SwapsOfAtoms(Swaps):
    """`first` and `second` are atoms of the pool; `fixed` says how often each comes where the systems agree, (U,)."""

    fixed: Ints

    @property
    def width(self) -> int:
        """See `Swaps`."""
        return len(self.counts) + len(self.fixed)

    def totals(self, swapped: NDArray[Any]) -> tuple[Any, Any]:
        """See `Swaps`."""
        if isinstance(self.pool, Sums):
            return self._moved(swapped)
        size, unswapped = len(self.fixed), self.counts - swapped
        first_counts = counts_of_atoms(unswapped, self.first, size) + counts_of_atoms(swapped, self.second, size)
        other = counts_of_atoms(swapped, self.first, size) + counts_of_atoms(unswapped, self.second, size)
        return self.pool.weighed(self.fixed + first_counts), self.pool.weighed(self.fixed + other)

    def _moved(self, swapped: NDArray[Any]) -> tuple[Floats, Floats]:
        """Sums change only by what swapped rows differ in: less work, as each row may be an atom of its own."""
        values = self.pool.totals
        first_values, other = values[self.first], values[self.second]
        same = self.fixed @ values
        change = swapped.astype(float) @ (other - first_values)
        return same + self.counts @ first_values + change, same + self.counts @ other - change


@dataclass(frozen=True)
class SwapsOfRows(Swaps):
    """`first` and `second` are numbers of rows in the pool; each kind is one row."""

    @property
    def width(self) -> int:
        """See `Swaps`."""
        return len(self.pool)

    def totals(self, swapped: NDArray[Any]) -> tuple[Any, Any]:
        """See `Swaps`."""
        n = len(self.pool) // 2
        first_rows = np.tile(np.arange(n), (len(swapped), 1))
        other = first_rows + n
        moved = swapped.astype(bool)
        first_rows[:, self.first] = np.where(moved, self.second, self.first)
        other[:, self.first] = np.where(moved, self.first, self.second)
        return self.pool.at(first_rows), self.pool.at(other)


def find_swaps(first: State, second: State) -> Swaps:
    """Return the differences of two states of the same rows.

    Raises ValueError for different numbers of rows, or none.
    """
    n = shared_row_count([first, second])
    pool = first + second
    if not isinstance(pool, Additive):
        rows = _differing_rows(pool, n)
        return SwapsOfRows(pool, np.ones(len(rows), np.int64), rows, rows + n)
    kinds, sizes = pool.atoms
    (first_atoms, other), counts = joint_atoms([kinds[:n], kinds[n:]])
    differ = first_atoms != other
    fixed = np.bincount(first_atoms[~differ], counts[~differ], len(sizes)).astype(np.int64)
    return SwapsOfAtoms(pool, counts[differ], first_atoms[differ], other[differ], fixed)


def _differing_rows(pool: State, n: int) -> Ints:
    """Numbers of the first n rows that are not as the n after them; all, where the state's rows cannot be seen."""
    if not isinstance(pool, Rows):
        return np.arange(n)
    differ = np.zeros(n, bool)
    for column in pool.columns:
        first_half, other = column[:n], column[n:]
        if column.dtype == object:  # rows may be lists or arrays, whose comparison is no single truth
            differ |= np.fromiter((not np.array_equal(a, b) for a, b in zip(first_half, other, strict=True)), bool, n)
        else:
            differ |= (first_half != other).reshape(n, -1).any(1)
    return np.flatnonzero(differ)


def _coins(n: int) -> Floats:
    """The chance that 0 to n of n fair coins show heads, shape (n + 1,)."""
    from scipy.special import gammaln

    heads = np.arange(n + 1)
    chance: Floats = np.exp(gammaln(n + 1) - gammaln(heads + 1) - gammaln(n - heads + 1) - n * np.log(2))
    return chance
