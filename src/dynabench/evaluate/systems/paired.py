"""Several states resampled together: the same rows for all, so that what systems share cancels in their difference."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.resampling import totals_without_groups
from dynabench.evaluate.states import Additive, State, block_sizes, multinomial

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
    for rows in _draws(n, rng, times):
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


def _draws(n: int, rng: np.random.Generator, times: int) -> Iterator[Ints]:
    """Numbers of rows drawn with replacement, in blocks (b, n); together the same whatever the blocks' sizes."""
    for size in block_sizes(times, n):
        yield rng.integers(0, n, (size, n))
