"""Selection of each arm's new examples from a pool with known answers."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from experiments.simulation.task_data import IntArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Candidates:
    """Rows to select from and what the target answers on them, all of shape (n,).

    `rows` are rows of the pool, `groups` their groups, `wrong` tells whether the target errs, and `margin` is the
    difference between the probabilities of its first and second answer.
    """

    rows: IntArray
    groups: IntArray
    wrong: BoolArray
    margin: FloatArray

    def without(self, rows: IntArray) -> "Candidates":
        """Return all candidates except these rows."""
        rest = ~np.isin(self.rows, rows)
        return Candidates(self.rows[rest], self.groups[rest], self.wrong[rest], self.margin[rest])


@dataclass(frozen=True)
class SelectedExamples:
    """Selected rows, the number of tries, and how many of the rows were taken without fooling the target."""

    rows: IntArray
    tries: int
    unfooled: int = 0


def select_random(candidates: Candidates, n: int, tries: int, rng: np.random.Generator) -> SelectedExamples:
    """Select n rows at random."""
    return SelectedExamples(rng.permutation(candidates.rows)[:n], n)


def select_uncertain(candidates: Candidates, n: int, tries: int, rng: np.random.Generator) -> SelectedExamples:
    """Select the n rows with the smallest margins; rows with equal margins are ordered at random."""
    order = np.lexsort((rng.random(len(candidates.rows)), candidates.margin))
    return SelectedExamples(candidates.rows[order[:n]], n)


def select_adversarial(candidates: Candidates, n: int, tries: int, rng: np.random.Generator) -> SelectedExamples:
    """Select n rows as adversaries do, who come one after another.

    Each tries examples, context by context in random order, submits the first that fools the target, and gives up after
    `tries` misses. A context is not used again after it gave an example. Where the pool ends before n rows are found,
    the tried rows with the smallest margins are submitted without fooling the target.
    """
    shuffled = rng.permutation(len(candidates.rows))
    rank = rng.permutation(int(candidates.groups.max(initial=0)) + 1)
    order = shuffled[np.argsort(rank[candidates.groups[shuffled]], kind="stable")]
    hits: list[int] = []
    misses: list[int] = []
    tried = misses_in_a_row = 0
    finished_group = -1
    for row in order.tolist():
        if len(hits) == n:
            break
        if candidates.groups[row] == finished_group:
            continue
        tried += 1
        if candidates.wrong[row]:
            hits.append(row)
            finished_group, misses_in_a_row = int(candidates.groups[row]), 0
            continue
        misses.append(row)
        misses_in_a_row += 1
        if misses_in_a_row == tries:
            finished_group, misses_in_a_row = int(candidates.groups[row]), 0
    spare = sorted(misses, key=lambda row: (candidates.margin[row], row))[: n - len(hits)]
    return SelectedExamples(candidates.rows[np.array(hits + spare, np.int64)], tried, len(spare))


def select_mixed(candidates: Candidates, n: int, tries: int, rng: np.random.Generator) -> SelectedExamples:
    """Select half of the rows as adversaries do, and half at random."""
    adversarial = select_adversarial(candidates, n // 2, tries, rng)
    rest = select_random(candidates.without(adversarial.rows), n - n // 2, tries, rng)
    rows = np.concatenate([adversarial.rows, rest.rows])
    return SelectedExamples(rows, adversarial.tries + rest.tries, adversarial.unfooled)


SELECT: dict[str, Callable[[Candidates, int, int, np.random.Generator], SelectedExamples]] = {
    "random": select_random,
    "uncertain": select_uncertain,
    "adversarial": select_adversarial,
    "mixed": select_mixed,
    "fixed": select_adversarial,
}
"""How each arm selects; the arm `fixed` does as `adversarial`, but always against the first target."""
