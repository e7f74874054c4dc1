"""One mix, several seeds: what of a score is the draw's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynabench.models.spec import Score, Spec


@dataclass(frozen=True)
class Spread:
    """A set's scores (accuracy, of spans F1) over seeds: their mean, standard deviation, least and most."""

    mean: float
    deviation: float
    least: float
    most: float
    seeds: int

    def told(self) -> str:
        """In one line."""
        return f"mean {self.mean:.4f}, deviation {self.deviation:.4f}, {self.least:.4f} to {self.most:.4f}"


def spread(models: Sequence[Spec]) -> Mapping[str, Spread]:
    """The spread of each set's score over models that differ in their seeds; the deviation is the sample's."""
    found = {}
    for name in models[0].scores:
        scores = [model.scores[name] for model in models]
        values = np.array([score.accuracy if isinstance(score, Score) else score.f1 for score in scores])
        deviation = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        found[name] = Spread(
            round(float(values.mean()), 4),
            round(deviation, 4),
            float(values.min()),
            float(values.max()),
            len(values),
        )
    return found
