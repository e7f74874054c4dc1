"""Accuracy."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Labels, Numbers
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums


class Accuracy(Metric):
    """The share of examples whose prediction is right."""

    card = Card(
        description="The share of examples whose prediction equals the reference.",
        formula=r"\frac{1}{\sum_i w_i} \sum_i w_i [\hat y_i = y_i]",
        inputs={
            "predictions": "predicted class of each example: whole numbers or texts",
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
        ),
        limits=(
            "Where one class is much more frequent than the others, always predicting it gives a high accuracy; "
            "look at F1, balanced measures or the confusion matrix beside it."
        ),
        citation="Metz, Basic principles of ROC analysis, Seminars in Nuclear Medicine 8 (1978) 283-298.",
        tasks=("text-classification", "image-classification", "natural-language-inference"),
    )
    columns = {"predictions": Labels(), "references": Labels()}
    optional = {"sample_weight": Numbers()}

    def update(
        self, predictions: Ints | list[str], references: Ints | list[str], sample_weight: Floats | None = None
    ) -> Sums:
        """Whether each row is right, or (right * weight, weight)."""
        right = same(predictions, references)
        return Sums(right if sample_weight is None else np.stack([right * sample_weight, sample_weight], 1))

    def formula(self, total: Floats, *, normalize: bool = True) -> dict[str, Floats]:
        """Weight of right rows / weight of all rows; the last number is the weights' sum, or the number of rows."""
        return {"accuracy": ratio(total[..., 0], total[..., 1]) if normalize else total[..., 0]}
