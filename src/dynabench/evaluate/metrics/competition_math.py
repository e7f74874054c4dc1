"""Accuracy of answers to mathematical problems."""

from functools import lru_cache

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.latex import canonical_answer


class CompetitionMath(Metric):
    """The share of mathematical answers that equal the right one after normalising their LaTeX."""

    columns = {"predictions": Texts(), "references": Texts()}

    def update(self, predictions: list[str], references: list[str]) -> Sums:
        """Return for each row whether its answer is right."""
        canonical_form = lru_cache(1 << 20)(canonical_answer)
        pairs = zip(predictions, references, strict=True)
        return Sums(
            np.array(
                [predicted == true or canonical_form(predicted) == canonical_form(true) for predicted, true in pairs],
                bool,
            )
        )

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Right answers / rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1])}
