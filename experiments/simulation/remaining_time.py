"""Estimates of an experiment's remaining time, from the times of the models trained so far."""

import json
from dataclasses import dataclass
from pathlib import Path

from experiments.simulation.plan import ExperimentPlan


@dataclass(frozen=True)
class TrainingTimes:
    """Seconds of training per row, and of prediction per model; both are 0 before the first model."""

    per_row: float = 0.0
    per_model: float = 0.0

    @classmethod
    def read(cls, folder: Path) -> "TrainingTimes":
        """Compute the mean times of all models of an experiment's folder."""
        file = folder / "seconds.jsonl"
        entries = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.is_file() else []
        models = [entry for entry in entries if "fit" in entry]
        if not models:
            return cls()
        rows = sum(model["rows"] for model in models)
        return cls(
            sum(model["fit"] for model in models) / rows, sum(model["predict"] for model in models) / len(models)
        )

    def estimate_remaining(self, plan: ExperimentPlan, seed: int, number: int, arm_index: int) -> float:
        """Estimate the seconds from one arm's part of round `number` of `seed` to the end of the experiment.

        Each seed trains a first target, then one model per arm and round, on the first rows and all rows that the arm
        has collected by then.
        """
        whole_seed = self._model(plan, 0) + self._models_after(plan, 0, 0)
        return self._models_after(plan, number, arm_index) + (plan.seeds - seed - 1) * whole_seed

    def _models_after(self, plan: ExperimentPlan, number: int, arm_index: int) -> float:
        """Estimate the rest of a seed whose first target is trained."""
        later_rounds = sum(self._model(plan, later) for later in range(number + 1, plan.rounds + 1)) * len(plan.arms)
        return later_rounds + (self._model(plan, number) * (len(plan.arms) - arm_index) if number else 0.0)

    def _model(self, plan: ExperimentPlan, number: int) -> float:
        return self.per_row * (plan.start + number * plan.examples) + self.per_model


def format_duration(seconds: float) -> str:
    """Format a time for people who wait."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
