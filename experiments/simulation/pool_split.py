"""The split of the pool into parts; rows of one group are always in the same part."""

from dataclasses import dataclass

import numpy as np

from dynabench.kit.errors import Invalid
from experiments.simulation.plan import ExperimentPlan
from experiments.simulation.task_data import IntArray, LabelledRows

COMMON_SEED = 20_261
"""Draws the test and the development rows, which are the same for every seed of the experiment."""


@dataclass(frozen=True)
class PoolSplit:
    """Rows of the pool by use: `candidates` for training, `later` for the rounds' test examples."""

    test: IntArray
    development: IntArray
    start: IntArray
    later: IntArray
    candidates: IntArray


def split_pool(pool: LabelledRows, plan: ExperimentPlan, seed: int) -> PoolSplit:
    """Draw test and development rows, equal for all seeds, then the other parts by the seed.

    Raises `Invalid` where too few candidates remain.
    """
    test, development, rest = _cut(pool, np.arange(len(pool)), (plan.test, plan.development), COMMON_SEED)
    start, later, candidates = _cut(pool, rest, (plan.start, plan.later), seed)
    if plan.candidates:
        candidates, _, _ = _cut(pool, candidates, (plan.candidates, 0), seed)
    if len(candidates) < 2 * plan.rounds * plan.examples:
        raise Invalid(
            {"pool": f"{len(candidates)} candidates are too few for {plan.rounds} rounds of {plan.examples}."}
        )
    return PoolSplit(test, development, start, later, candidates)


def _cut(pool: LabelledRows, rows: IntArray, sizes: tuple[int, int], seed: int) -> tuple[IntArray, IntArray, IntArray]:
    """Cut rows into two parts of about these sizes and the rest: whole groups in random order."""
    groups = np.unique(pool.groups[rows])
    rank = np.empty(int(groups.max(initial=0)) + 1, np.int64)
    rank[np.random.default_rng(seed).permutation(groups)] = np.arange(len(groups))
    order = rows[np.argsort(rank[pool.groups[rows]], kind="stable")]
    part = np.searchsorted(np.cumsum(sizes), _group_starts(pool.groups[order]), side="right")
    return np.sort(order[part == 0]), np.sort(order[part == 1]), np.sort(order[part == 2])


def _group_starts(groups: IntArray) -> IntArray:
    """Return the position of the first row of each row's group, for rows that are ordered by group."""
    first = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
    return np.repeat(first, np.diff(np.r_[first, len(groups)]))
