"""The share of each label."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Labels
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.plain_values import to_plain
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states.tallies import LabelCounts, LabelState


class LabelDistribution(Measurement):
    """Share of each label, and the skewness of the distribution."""

    columns = {"data": Labels()}

    def update(self, data: Ints | list[str]) -> LabelState:
        """The labels' codes."""
        return LabelState.of(data)

    def formula(self, total: LabelCounts) -> dict[str, Floats]:
        """Fractions, shape (..., K), and skewness, shape (...)."""
        counts, labels = total.counts, total.labels
        texts = any(isinstance(label, str) for label in labels)
        values = np.arange(len(labels), dtype=float) if texts else np.array(labels, float)
        fractions = counts / counts.sum(-1, keepdims=True)
        deviations = values - (fractions @ values)[..., None]
        second, third = ((fractions * deviations**power).sum(-1) for power in (2, 3))
        single_class = (counts > 0).sum(-1) == 1
        return {"fractions": fractions, "label_skew": ratio(np.where(single_class, 0, third), second**1.5)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """The original's form."""
        values = to_plain(self.formula(state.total()))
        return {
            "label_distribution": {"labels": list(state.labels), "fractions": values["fractions"]},
            "label_skew": values["label_skew"],
        }
