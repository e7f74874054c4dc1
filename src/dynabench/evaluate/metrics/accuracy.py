"""Accuracy."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, LabelsOrSets, Weights
from dynabench.evaluate.labels import same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class Accuracy(Metric):
    """The share of examples whose prediction is right."""

    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Sums:
        """Return for each row whether it is right, or (right * weight, weight)."""
        wide = [column for column in (predictions, references) if isinstance(column, np.ndarray) and column.ndim == 2]
        if wide and (len(wide) == 1 or predictions.shape != references.shape):
            shapes = " and ".join(str(np.shape(column)) for column in (predictions, references))
            raise ValueError(f"predictions and references need one shape (examples, classes), not {shapes}")
        right = (predictions == references).all(-1) if wide else same(predictions, references)
        return Sums(right if sample_weight is None else np.stack([right * sample_weight, sample_weight], 1))

    def formula(self, total: Floats, *, normalize: bool = True) -> dict[str, Floats]:
        """Weight of right rows / weight of all rows; the last number is the weights' sum, or the number of rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1]) if normalize else total[..., 0]}
