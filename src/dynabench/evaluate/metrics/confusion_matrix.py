"""Confusion matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Labels, Weights
from dynabench.evaluate.labels import Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Confusion

SUMS: dict[str | None, tuple[int, ...]] = {"true": (-1,), "pred": (-2,), "all": (-1, -2)}


class ConfusionMatrix(Metric):
    """Counts of each class being predicted as each other class."""

    columns = {"predictions": Labels(), "references": Labels()}
    optional = {"sample_weight": Weights()}

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Cells:
        """The cell of each row."""
        return Cells.of(references, predictions, sample_weight)

    def formula(
        self, total: Confusion, *, labels: Sequence[Label] | None = None, normalize: str | None = None
    ) -> dict[str, Any]:
        """The matrices, shape (..., K, K)."""
        if normalize is not None and normalize not in SUMS:
            raise ValueError(f"normalize is None, 'true', 'pred' or 'all', not {normalize!r}")
        cells = total.counts if labels is None else _select_labels(total, labels)
        if normalize is None:
            return {"confusion_matrix": cells}
        return {"confusion_matrix": ratio(cells, cells.sum(SUMS[normalize], keepdims=True))}

    def result(self, state: Cells, *, labels: Sequence[Label] | None = None, **options: Any) -> dict[str, Any]:
        """The matrix and its labels."""
        matrix = super().result(state, labels=labels, **options)
        return {**matrix, "labels": list(state.labels if labels is None else labels)}

    def compatible(self, result: dict[str, Any]) -> Any:
        """The matrix alone."""
        return {"confusion_matrix": np.array(result["confusion_matrix"])}


def _select_labels(total: Confusion, labels: Sequence[Label]) -> Any:
    """Rows and columns of `labels`; zeros for those that do not occur."""
    place = {label: code for code, label in enumerate(total.labels)}
    codes = np.array([place.get(label, -1) for label in labels])
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels={list(labels)} names one twice")
    if (codes < 0).all():
        raise ValueError(f"none of labels={list(labels)} occurs; there are {', '.join(map(repr, total.labels))}")
    occurs = (codes[:, None] >= 0) & (codes[None, :] >= 0)
    return np.where(occurs, total.counts[..., codes[:, None], codes[None, :]], 0)
