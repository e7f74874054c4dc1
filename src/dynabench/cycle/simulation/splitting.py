"""Which row of the pool is for what; rows of one group are all for the same."""

from dataclasses import dataclass

import numpy as np

from dynabench.cycle.simulation.material import Ints, Rows
from dynabench.cycle.simulation.plan import Plan
from dynabench.errors import Invalid

PUBLIC = 20_261
"""Draws the test and the development rows, which are the same for every seed."""


@dataclass(frozen=True)
class Split:
    """Places of rows in the pool: `candidates` for training, `later` for the test parts of rounds."""

    test: Ints
    development: Ints
    start: Ints
    later: Ints
    candidates: Ints


def split(pool: Rows, plan: Plan, seed: int) -> Split:
    """Test and development rows are drawn once for all seeds, the rest by the seed.

    Raises `Invalid` where too little is left to choose from.
    """
    test, development, rest = _cut(pool, np.arange(len(pool)), (plan.test, plan.development), PUBLIC)
    start, later, candidates = _cut(pool, rest, (plan.start, plan.later), seed)
    if plan.candidates:
        candidates, _, _ = _cut(pool, candidates, (plan.candidates, 0), seed)
    if len(candidates) < 2 * plan.rounds * plan.each:
        raise Invalid({"pool": f"{len(candidates)} candidates are too few for {plan.rounds} rounds of {plan.each}."})
    return Split(test, development, start, later, candidates)


def _cut(pool: Rows, places: Ints, sizes: tuple[int, int], seed: int) -> tuple[Ints, Ints, Ints]:
    """Two parts of about these sizes and the rest, whole groups in random order, each part in the pool's order."""
    groups = np.unique(pool.groups[places])
    rank = np.empty(int(groups.max(initial=0)) + 1, np.int64)
    rank[np.random.default_rng(seed).permutation(groups)] = np.arange(len(groups))
    order = places[np.argsort(rank[pool.groups[places]], kind="stable")]
    part = np.searchsorted(np.cumsum(sizes), _group_starts(pool.groups[order]), side="right")
    return np.sort(order[part == 0]), np.sort(order[part == 1]), np.sort(order[part == 2])


def _group_starts(groups: Ints) -> Ints:
    """For rows whose groups stand together, the place of the first of each row's group."""
    first = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    return np.repeat(first, np.diff(np.r_[first, len(groups)]))
