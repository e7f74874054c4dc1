"""Confusion matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Labels, Weights
from dynabench.evaluate.labels import Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Confusion
from dynabench.language import N_

SUMS: dict[str | None, tuple[int, ...]] = {"true": (-1,), "pred": (-2,), "all": (-1, -2)}


class ConfusionMatrix(Metric):
    """How often each class is taken for each other."""

    card = Card(
        description=N_(
            "How many examples of each class (rows) were predicted to be of each class (columns): the right ones "
            "stand on the diagonal."
        ),
        formula=r"C_{ij} = \sum_n w_n [y_n = i][\hat y_n = j]",
        inputs={
            "predictions": "predicted class of each example: whole numbers or texts",
            "references": "right class of each example, of the same kind",
            "sample_weight": "weight of each example; all weigh the same by default",
        },
        options={
            "labels": "the classes and their order; all that occur, sorted, by default. Others are left out",
            "normalize": "'true' makes each row sum to 1, 'pred' each column, 'all' the whole; None gives counts",
        },
        outputs=(
            Output("confusion_matrix", "a list of rows, one for each right class", 0),
            Output("labels", "the classes of rows and columns"),
        ),
        examples=(
            Example(
                "Three classes",
                {"predictions": [1, 0, 1, 1, 0], "references": [1, 2, 1, 1, 0]},
                {"confusion_matrix": [[1, 0, 0], [0, 3, 0], [1, 0, 0]], "labels": [0, 1, 2]},
            ),
            Example(
                "Texts, as shares of each right class",
                {"predictions": ["cat", "cat", "dog"], "references": ["cat", "dog", "dog"]},
                {"confusion_matrix": [[1, 0], [0.5, 0.5]], "labels": ["cat", "dog"]},
                {"normalize": "true"},
            ),
            Example(
                "A label that does not occur",
                {"predictions": [0, 1], "references": [0, 1]},
                error="none of labels=[7] occurs",
                options={"labels": [7]},
            ),
        ),
        limits=(
            "A class that never occurs has a row (or column) of zeros, also when normalised. Raw counts of classes of "
            "different sizes mislead the eye: normalise by 'true' to compare classes."
        ),
        citation="Stehman, Selecting and interpreting measures of thematic classification accuracy, Remote Sensing of "
        "Environment 62 (1997) 77-89.",
        tasks=("text-classification", "image-classification"),
    )
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
        cells = total.counts if labels is None else _chosen(total, labels)
        if normalize is None:
            return {"confusion_matrix": cells}
        return {"confusion_matrix": ratio(cells, cells.sum(SUMS[normalize], keepdims=True))}

    def result(self, state: Cells, *, labels: Sequence[Label] | None = None, **options: Any) -> dict[str, Any]:
        """The matrix and its labels."""
        found = super().result(state, labels=labels, **options)
        return {**found, "labels": list(state.labels if labels is None else labels)}

    def compatible(self, result: dict[str, Any]) -> Any:
        """The matrix alone."""
        return {"confusion_matrix": np.array(result["confusion_matrix"])}


def _chosen(total: Confusion, labels: Sequence[Label]) -> Any:
    """Rows and columns of `labels`; zeros for those that do not occur."""
    place = {label: code for code, label in enumerate(total.labels)}
    codes = np.array([place.get(label, -1) for label in labels])
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels={list(labels)} names one twice")
    if (codes < 0).all():
        raise ValueError(f"none of labels={list(labels)} occurs; there are {', '.join(map(repr, total.labels))}")
    known = (codes[:, None] >= 0) & (codes[None, :] >= 0)
    return np.where(known, total.counts[..., codes[:, None], codes[None, :]], 0)
