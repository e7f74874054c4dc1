"""All rounds of all seeds as arrays, by arm."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from dynabench.kit.errors import Conflict
from experiments.simulation import round_files
from experiments.simulation.plan import ExperimentPlan
from experiments.simulation.pool_split import PoolSplit, split_pool
from experiments.simulation.round_files import SimulatedRound
from experiments.simulation.selection import BoolArray, FloatArray
from experiments.simulation.task_data import IntArray, TaskData


@dataclass(frozen=True)
class ExperimentHistory:
    """The stored rounds of a finished experiment: `rounds[seed][number][arm]`."""

    plan: ExperimentPlan
    data: TaskData
    rounds: Sequence[Sequence[SimulatedRound]]

    @classmethod
    def read(cls, plan: ExperimentPlan, data: TaskData, folder: Path) -> "ExperimentHistory":
        """Read all rounds of a folder; raises `Conflict` where a round is missing."""
        rounds = [round_files.read_rounds(folder, seed, plan.rounds) for seed in range(plan.seeds)]
        if any(len(seed_rounds) <= plan.rounds for seed_rounds in rounds):
            raise Conflict(f"{folder} lacks rounds; run them first.")
        return cls(plan, data, rounds)

    @cached_property
    def splits(self) -> list[PoolSplit]:
        """The split of each seed."""
        return [split_pool(self.data.pool, self.plan, seed) for seed in range(self.plan.seeds)]

    @cached_property
    def test_clusters(self) -> IntArray:
        """The group of each test row, shape (test,)."""
        return self.data.pool.groups[self.splits[0].test]

    @cached_property
    def collected_rows(self) -> list[int]:
        """All rows of the pool that any arm of any seed collected for training."""
        parts = [part for seed_rounds in self.rounds for arms in seed_rounds for part in arms.values()]
        return sorted({int(row) for part in parts for row in part.train_rows})

    def errors(self, arm: str, test_set: str) -> BoolArray:
        """Return the errors of the arm's models on `test` or `suite`, shape (seeds, rounds + 1, items)."""
        field = f"{test_set}_errors"
        return np.array([[getattr(arms[arm], field) for arms in seed_rounds] for seed_rounds in self.rounds])

    def numbers(self, arm: str, field: str) -> FloatArray:
        """Return a number of the arm in each round after round 0, or the sum of flags, shape (seeds, rounds)."""
        return np.array(
            [[np.sum(getattr(arms[arm], field)) for arms in seed_rounds[1:]] for seed_rounds in self.rounds], float
        )

    def collected(self, seed: int, arm: str, first: int = 1, last: int = 0) -> IntArray:
        """Return the rows that the arm collected for training in rounds `first` to `last`; in all by default."""
        rounds = self.rounds[seed][first : (last or self.plan.rounds) + 1]
        return np.concatenate([arms[arm].train_rows for arms in rounds])

    def errors_on_rounds(self, arm: str, collecting_arm: str) -> FloatArray:
        """Return error rates of the arm's models on the test examples that `collecting_arm` collected in each round.

        The shape is (seeds, rounds + 1, rounds), models first; models are tested on later rounds, too.
        """
        rates = np.zeros((self.plan.seeds, self.plan.rounds + 1, self.plan.rounds))
        for seed, seed_rounds in enumerate(self.rounds):
            later = self.splits[seed].later
            for round_index, arms in enumerate(seed_rounds[1:]):
                positions = np.searchsorted(later, arms[collecting_arm].test_rows)
                for model_index, model_arms in enumerate(seed_rounds):
                    rates[seed, model_index, round_index] = model_arms[arm].later_errors[positions].mean()
        return rates
