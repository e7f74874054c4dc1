"""Accuracy."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, LabelsOrSets, Weights
from dynabench.evaluate.labels import same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.language import N_


class Accuracy(Metric):
    """The share of examples whose prediction is right."""

    card = Card(
        description=N_(
            "The share of examples whose prediction equals the reference; with several classes at once, in all of them."
        ),
        formula=r"\frac{1}{\sum_i w_i} \sum_i w_i [\hat y_i = y_i]",
        inputs={
            "predictions": "predicted class of each example (a whole number or a text), or a row of 0 and 1",
            "references": "right class of each example, of the same kind",
            "sample_weight": "weight of each example; all weigh the same by default",
        },
        options={"normalize": "False gives the (weighted) number of right predictions instead of the share"},
        outputs=(Output("accuracy", "share of right predictions", 0, 1, "higher"),),
        examples=(
            Example(
                "Three of six are right",
                {"predictions": [0, 1, 2, 0, 1, 2], "references": [0, 1, 1, 2, 1, 0]},
                {"accuracy": 0.5},
            ),
            Example(
                "Texts, the first one weighing more",
                {"predictions": ["yes", "no"], "references": ["yes", "yes"], "sample_weight": [3, 1]},
                {"accuracy": 0.75},
            ),
            Example(
                "Scores are no labels",
                {"predictions": [0.9, 0.2], "references": [1, 0]},
                error="row 0 is 0.9, which is no label",
            ),
            Example(
                "Several classes at once: a row is right as a whole",
                {"predictions": [[0, 1, 1], [1, 1, 0]], "references": [[0, 1, 1], [0, 1, 0]]},
                {"accuracy": 0.5},
                config="multilabel",
            ),
        ),
        limits=(
            "Where one class is much more frequent than the others, always predicting it gives a high accuracy; "
            "look at F1, balanced measures or the confusion matrix beside it. With several classes at once a row with "
            "one wrong class counts as wrong."
        ),
        citation="Metz, Basic principles of ROC analysis, Seminars in Nuclear Medicine 8 (1978) 283-298.",
        tasks=("text-classification", "image-classification", "natural-language-inference"),
    )
    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Sums:
        """Whether each row is right, or (right * weight, weight)."""
        wide = [column for column in (predictions, references) if isinstance(column, np.ndarray) and column.ndim == 2]
        if wide and (len(wide) == 1 or predictions.shape != references.shape):
            shapes = " and ".join(str(np.shape(column)) for column in (predictions, references))
            raise ValueError(f"predictions and references need one shape (examples, classes), not {shapes}")
        right = (predictions == references).all(-1) if wide else same(predictions, references)
        return Sums(right if sample_weight is None else np.stack([right * sample_weight, sample_weight], 1))

    def formula(self, total: Floats, *, normalize: bool = True) -> dict[str, Floats]:
        """Weight of right rows / weight of all rows; the last number is the weights' sum, or the number of rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1]) if normalize else total[..., 0]}
