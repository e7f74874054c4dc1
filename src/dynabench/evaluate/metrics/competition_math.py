"""Accuracy of answers to mathematical problems."""

from functools import lru_cache

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.latex import canonical


class CompetitionMath(Metric):
    """The share of mathematical answers that are written like the right one, but for what LaTeX leaves free."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Whether each answer is right."""
        alike = lru_cache(1 << 20)(canonical)
        pairs = zip(predictions, references, strict=True)
        return Sums(np.array([said == true or alike(said) == alike(true) for said, true in pairs], bool))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Right answers / rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1])}
