"""All rounds of all seeds as arrays, and what they say of each arm."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from dynabench.cycle.simulation import state
from dynabench.cycle.simulation.material import Ints, Material
from dynabench.cycle.simulation.plan import Plan
from dynabench.cycle.simulation.splitting import Split, split
from dynabench.cycle.simulation.state import Round
from dynabench.errors import Conflict

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class History:
    """What was kept of a finished experiment: `rounds[seed][number][arm]`."""

    plan: Plan
    material: Material
    rounds: Sequence[Sequence[Round]]

    @classmethod
    def read(cls, plan: Plan, material: Material, folder: Path) -> "History":
        """From its folder; raises `Conflict` where a round is missing."""
        found = [state.rounds(folder, seed, plan.rounds) for seed in range(plan.seeds)]
        if any(len(each) <= plan.rounds for each in found):
            raise Conflict(f"{folder} lacks rounds; run them first.")
        return cls(plan, material, found)

    @cached_property
    def splits(self) -> list[Split]:
        """Each seed's."""
        return [split(self.material.pool, self.plan, seed) for seed in range(self.plan.seeds)]

    @cached_property
    def test_clusters(self) -> Ints:
        """The group of each test row, shape (test,)."""
        return self.material.pool.groups[self.splits[0].test]

    @cached_property
    def used(self) -> list[int]:
        """Places of all that any arm of any seed collected for training."""
        return sorted(
            {int(each) for seed in self.rounds for turns in seed for turn in turns.values() for each in turn.train}
        )

    def errors(self, arm: str, on: str) -> Bools:
        """Errors of the arm's models on `test` or `suite`, shape (seeds, rounds + 1, items)."""
        return np.array([[getattr(each[arm], on) for each in of_seed] for of_seed in self.rounds])

    def numbers(self, arm: str, name: str) -> Floats:
        """A number of each turn, or the sum of its flags, without round 0: shape (seeds, rounds)."""
        return np.array([[np.sum(getattr(each[arm], name)) for each in of_seed[1:]] for of_seed in self.rounds], float)

    def collected(self, seed: int, arm: str, first: int = 1, last: int = 0) -> Ints:
        """Places of what the arm collected for training in rounds `first` to `last`, by default all."""
        return np.concatenate([each[arm].train for each in self.rounds[seed][first : (last or self.plan.rounds) + 1]])

    def on_parts(self, arm: str, of: str) -> Floats:
        """Errors of the arm's model after each round on each round's test part of the arm `of`: shape (seeds,
        rounds + 1, rounds), models first. Parts of later rounds than the model's are there as well."""
        found = np.zeros((self.plan.seeds, self.plan.rounds + 1, self.plan.rounds))
        for seed, of_seed in enumerate(self.rounds):
            later = self.splits[seed].later
            for part, made in enumerate(of_seed[1:]):
                rows = np.searchsorted(later, made[of].kept)
                for number, turn in enumerate(of_seed):
                    found[seed, number, part] = turn[arm].later[rows].mean()
        return found
