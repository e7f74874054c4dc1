"""F1."""

from collections.abc import Sequence
from typing import Any

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.averages import Average, Counts, averaged, state_of
from dynabench.evaluate.columns import Floats, LabelsOrSets, Weights
from dynabench.evaluate.labels import Label
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Confusion, Sums


def f1(counts: Counts, default: float = 0.0) -> Floats:
    """F1 of each class, shape (..., K); `default` for a class that nobody has and nobody predicts."""
    return ratio(2 * counts.hits, counts.true + counts.said, default)


class F1(Metric):
    """The harmonic mean of precision and recall."""

    card = Card(
        description=(
            "The harmonic mean of precision (how many of the predicted examples of a class are right) and recall "
            "(how many of a class's examples were found), of one class or averaged over classes."
        ),
        formula=r"F_1 = \frac{2\,TP}{2\,TP + FP + FN}",
        inputs={
            "predictions": "predicted class of each example, or for several classes at once a row of 0 and 1",
            "references": "right class of each example, of the same kind",
            "sample_weight": "weight of each example; all weigh the same by default",
        },
        options={
            "average": "binary (of `pos_label`), macro, micro, weighted, samples (rows of 0 and 1), None (all classes)",
            "pos_label": "the class that counts with average=binary",
            "labels": "the classes to average over, in this order; all that occur by default",
        },
        outputs=(Output("f1", "F1, or a list with one value for each class", 0, 1, "higher"),),
        examples=(
            Example(
                "One of two positives found, one false alarm",
                {"predictions": [0, 0, 1, 1, 0], "references": [0, 1, 0, 1, 0]},
                {"f1": 0.5},
            ),
            Example(
                "Three classes, each weighing the same",
                {"predictions": [0, 2, 1, 0, 0, 1], "references": [0, 1, 2, 0, 1, 2]},
                {"f1": 4 / 15},
                {"average": "macro"},
            ),
            Example(
                "Two classes at once in each row",
                {"predictions": [[0, 1], [1, 1]], "references": [[0, 1], [1, 0]]},
                {"f1": 5 / 6},
                {"average": "macro"},
            ),
            Example(
                "Three classes have no single positive one",
                {"predictions": [0, 1, 2], "references": [0, 1, 2]},
                error="choose another average",
            ),
        ),
        limits=(
            "Says nothing of true negatives, and changes when the positive class is swapped. A class that occurs "
            "neither in references nor in predictions scores 0 and lowers a macro average over given `labels`."
        ),
        citation="van Rijsbergen, Information Retrieval, 2nd edition, Butterworths, 1979.",
        tasks=("text-classification", "natural-language-inference"),
    )
    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")
    arrays = True

    def update(
        self, predictions: Any, references: Any, sample_weight: Floats | None = None, *, average: Average = "binary"
    ) -> Cells | Sums:
        """Cells of a confusion matrix; for rows of 0 and 1 counts of each class, or F1 of the row itself."""
        return state_of(predictions, references, sample_weight, f1 if average == "samples" else None)

    def formula(
        self,
        total: Confusion | Floats,
        *,
        average: Average = "binary",
        pos_label: Label = 1,
        labels: Sequence[Label] | None = None,
    ) -> dict[str, Floats]:
        """The average of `f1` over classes."""
        return {"f1": averaged(f1, total, average, pos_label, labels)}
