"""Brier score."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, LabelsOrSets, Numbers, Weights
from dynabench.evaluate.labels import Label, encode_labels
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class BrierScore(Metric):
    """The mean squared distance between probabilities and outcomes."""

    columns = {"predictions": Numbers(wide=True), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilist")

    takes_probabilities = True

    def of_probabilities(self, rows: Floats, references: Sequence[Label], labels: Sequence[Label]) -> dict[str, Any]:
        """Return columns from a probability of each label in each row, (n, K); two labels weigh half each."""
        indicators = np.array([[label == right for label in labels] for right in references], float)
        return {"predictions": rows, "references": indicators}

    def update(
        self, predictions: Floats, references: Any, sample_weight: Floats | None = None, *, pos_label: Label = 1
    ) -> Sums:
        """The squared error of each row, (n,) or with weights (n, 2)."""
        wrong = (predictions < 0) | (predictions > 1)
        if wrong.any():
            row = int(np.argwhere(wrong)[0][0])
            raise ValueError(f"predictions: row {row} is {predictions[row]!s}, which is no probability")
        rows = isinstance(references, np.ndarray) and references.ndim == 2
        if not rows:
            references = _indicator(references, pos_label)
        if predictions.shape != references.shape:
            raise ValueError(
                f"predictions and references need one shape, not {predictions.shape} and {references.shape}; give "
                "one probability for each label, or a row of 0 and 1 for each row of probabilities"
            )
        errors = (predictions - references) ** 2
        if rows:
            errors = errors.sum(1) / (2 if errors.shape[1] == 2 else 1)
        return Sums(errors if sample_weight is None else np.stack([errors * sample_weight, sample_weight], 1))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Sum of errors / sum of weights; the last number is the weights' sum, or the number of rows."""
        return {"brier_score": ratio(total[..., 0], total[..., 1])}


def _indicator(references: Any, pos_label: Label) -> Floats:
    """1 where the positive class is right, 0 elsewhere. Raises ValueError where the positive class is unclear."""
    labels, (codes,) = encode_labels(references)
    label_list = ", ".join(map(repr, labels[:5]))
    if len(labels) > 2:
        raise ValueError(
            f"references hold {len(labels)} classes ({label_list}); give rows of probabilities and of 0 and 1"
        )
    if pos_label in labels:
        indicator: Floats = (codes == labels.index(pos_label)).astype(float)
        return indicator
    if len(labels) == 2 or isinstance(labels[0], str) != isinstance(pos_label, str):
        raise ValueError(f"no reference is {pos_label!r}; choose pos_label from {label_list}")
    return np.zeros(len(codes))
