"""How long an experiment takes: measured on the models made so far."""

import json
from dataclasses import dataclass
from pathlib import Path

from dynabench.cycle.simulation.plan import Plan


@dataclass(frozen=True)
class Pace:
    """Seconds of training for a row, and of answering for a model; both 0 before the first model."""

    row: float = 0.0
    model: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> "Pace":
        """Of all models whose times were noted in an experiment's folder."""
        file = folder / "seconds.jsonl"
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []
        made = [each for each in lines if "fit" in each]
        if not made:
            return cls()
        rows = sum(each["rows"] for each in made)
        return cls(sum(each["fit"] for each in made) / rows, sum(each["predict"] for each in made) / len(made))

    def left(self, plan: Plan, seed: int, number: int, place: int) -> float:
        """Seconds from the turn of the arm at `place` in round `number` of `seed` on: every seed's first target, then
        a model of each arm in each round, of the first rows and all that were collected by then."""
        fresh = self._models(plan, 0, 0)
        return self._models(plan, number, place) + (plan.seeds - seed - 1) * (fresh + self._model(plan, 0))

    def _models(self, plan: Plan, number: int, place: int) -> float:
        """Of a seed whose first target is there."""
        after = sum(self._model(plan, later) for later in range(number + 1, plan.rounds + 1)) * len(plan.arms)
        return after + (self._model(plan, number) * (len(plan.arms) - place) if number else 0.0)

    def _model(self, plan: Plan, number: int) -> float:
        return self.row * (plan.start + number * plan.each) + self.model


def clock(seconds: float) -> str:
    """A time in words, to be read while waiting."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
