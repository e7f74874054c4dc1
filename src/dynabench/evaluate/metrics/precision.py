"""Precision."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.averages import Average, Counts, averaged, state_of
from dynabench.evaluate.columns import Floats, LabelsOrSets, Weights
from dynabench.evaluate.labels import Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio, undefined
from dynabench.evaluate.states import Cells, Confusion, Sums


def precision(counts: Counts, default: float = 0.0) -> Floats:
    """Precision of each class, shape (..., K); `default` for a class that nobody predicts."""
    return ratio(counts.hits, counts.said, default)


class Precision(Metric):
    """The share of the examples predicted to be of a class that are of it."""

    card = Card(
        description="Of the examples that were predicted to be of a class, the share that really are.",
        formula=r"P = \frac{TP}{TP + FP}",
        inputs={
            "predictions": "predicted class of each example, or for several classes at once a row of 0 and 1",
            "references": "right class of each example, of the same kind",
            "sample_weight": "weight of each example; all weigh the same by default",
        },
        options={
            "average": "binary (of `pos_label`), macro, micro, weighted, samples (rows of 0 and 1), None (all classes)",
            "pos_label": "the class that counts with average=binary",
            "labels": "the classes to average over, in this order; all that occur by default",
            "zero_division": "value of a class that is never predicted: 0 (also 'warn') or 1",
        },
        outputs=(Output("precision", "precision, or a list with one value for each class", 0, 1, "higher"),),
        examples=(
            Example(
                "Two predicted positives, one of them right",
                {"predictions": [0, 0, 1, 1, 0], "references": [0, 1, 0, 1, 0]},
                {"precision": 0.5},
            ),
            Example(
                "Each class of three",
                {"predictions": [0, 2, 1, 0, 0, 1], "references": [0, 1, 2, 0, 1, 2]},
                {"precision": [2 / 3, 0, 0]},
                {"average": None},
            ),
            Example(
                "Nothing is predicted to be positive",
                {"predictions": [0, 0], "references": [1, 0]},
                {"precision": 1},
                {"zero_division": 1},
            ),
            Example(
                "Texts need to know which one is positive",
                {"predictions": ["spam", "ham"], "references": ["spam", "spam"]},
                error="choose pos_label",
            ),
        ),
        limits=(
            "Says nothing of the examples that were missed: read it beside recall. A class that is never predicted "
            "has no precision; it counts as `zero_division`, and 'warn' does not warn. Depends on how frequent the "
            "class is, so compare it on one data set only."
        ),
        citation="Kent et al., Machine literature searching VIII, American Documentation 6 (1955) 93-101.",
        tasks=("text-classification", "natural-language-inference"),
    )
    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")
    arrays = True

    def update(
        self,
        predictions: Any,
        references: Any,
        sample_weight: Floats | None = None,
        *,
        average: Average = "binary",
        zero_division: Any = "warn",
    ) -> Cells | Sums:
        """Cells of a confusion matrix; for rows of 0 and 1 counts of each class, or precision of the row itself."""
        score = partial(precision, default=undefined(zero_division))
        return state_of(predictions, references, sample_weight, score if average == "samples" else None)

    def formula(
        self,
        total: Confusion | Floats,
        *,
        average: Average = "binary",
        pos_label: Label = 1,
        labels: Sequence[Label] | None = None,
        zero_division: Any = "warn",
    ) -> dict[str, Floats]:
        """The average of `precision` over classes."""
        score = partial(precision, default=undefined(zero_division))
        return {"precision": averaged(score, total, average, pos_label, labels)}
