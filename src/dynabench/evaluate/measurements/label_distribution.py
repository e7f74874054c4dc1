"""The share of each label."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.plain import plain
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states.tallies import Counted, Tally


class LabelDistribution(Measurement):
    """How often each label occurs, and how lopsided that is."""

    columns = {"data": Labels()}

    def update(self, data: Ints | list[str]) -> Tally:
        """The labels' codes."""
        return Tally.of(data)

    def formula(self, total: Counted) -> dict[str, Floats]:
        """Fractions, shape (..., K), and skewness, shape (...)."""
        counts, labels = total.counts, total.labels
        texts = any(isinstance(label, str) for label in labels)
        values = np.arange(len(labels), dtype=float) if texts else np.array(labels, float)
        fractions = counts / counts.sum(-1, keepdims=True)
        off = values - (fractions @ values)[..., None]
        second, third = ((fractions * off**power).sum(-1) for power in (2, 3))
        alone = (counts > 0).sum(-1) == 1
        return {"fractions": fractions, "label_skew": ratio(np.where(alone, 0, third), second**1.5)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """The original's form."""
        found = plain(self.formula(state.total()))
        return {
            "label_distribution": {"labels": list(state.labels), "fractions": found["fractions"]},
            "label_skew": found["label_skew"],
        }
