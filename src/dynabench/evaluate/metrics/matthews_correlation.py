"""Matthews correlation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.classes.averages import state_of
from dynabench.evaluate.columns import Floats, LabelsOrSets, Weights
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Confusion, Sums
from dynabench.language import N_


def matthews(right: NDArray[Any], true: NDArray[Any], said: NDArray[Any]) -> Floats:
    """The coefficient R_K from the number of right rows, (...), and sums of rows and columns of matrices, (..., K).

    0 where either side is of one class. Gorodkin, Comparing two K-category assignments by a K-category correlation
    coefficient (2004), equation 8.
    """
    n = true.sum(-1, dtype=float)
    if true.dtype.kind == "f":  # weights may be so large that their squares are no floats
        right, true, said, n = ratio(right, n), ratio(true, n[..., None]), ratio(said, n[..., None]), ratio(n, n)
    right, true, said = right.astype(float), true.astype(float), said.astype(float)
    spread = np.clip(n**2 - (said**2).sum(-1), 0, None) * np.clip(n**2 - (true**2).sum(-1), 0, None)
    flat = ((true > 0).sum(-1) < 2) | ((said > 0).sum(-1) < 2)  # rounding may leave more than 0
    return ratio(right * n - (true * said).sum(-1), np.where(flat, 0, np.sqrt(spread)))


class MatthewsCorrelation(Metric):
    """The correlation between predictions and references."""

    card = Card(
        description=N_(
            "The correlation between predicted and right classes: 1 for perfect predictions, 0 for predictions "
            "that are no better than chance, -1 for two classes exchanged throughout. Uses all cells of the "
            "confusion matrix, so it stays informative where classes are of very different sizes."
        ),
        formula=r"\frac{TP \cdot TN - FP \cdot FN}{\sqrt{(TP+FP)(TP+FN)(TN+FP)(TN+FN)}}",
        inputs={
            "predictions": "predicted class of each example, or for several classes at once a row of 0 and 1",
            "references": "right class of each example, of the same kind",
            "sample_weight": "weight of each example; all weigh the same by default",
        },
        options={"average": "of rows of 0 and 1: 'macro' gives the mean over classes, None a list"},
        outputs=(Output("matthews_correlation", "the coefficient, or one of each class", -1, 1, "higher"),),
        examples=(
            Example(
                "Four classes",
                {"predictions": [1, 2, 2, 0, 3, 3], "references": [1, 3, 2, 0, 3, 2]},
                {"matthews_correlation": 14 / 26},
            ),
            Example(
                "The same with weights",
                {
                    "predictions": [1, 2, 2, 0, 3, 3],
                    "references": [1, 3, 2, 0, 3, 2],
                    "sample_weight": [0.5, 3, 1, 1, 1, 2],
                },
                {"matthews_correlation": 0.09782608695652174},
            ),
            Example(
                "One class alone correlates with nothing",
                {"predictions": [1, 1], "references": [1, 1]},
                {"matthews_correlation": 0},
            ),
            Example(
                "Two classes at once in each row",
                {"predictions": [[0, 1], [1, 1], [1, 0]], "references": [[0, 1], [1, 0], [1, 0]]},
                {"matthews_correlation": [1, 0.5]},
                config="multilabel",
            ),
            Example(
                "Scores are no labels",
                {"predictions": [0.7], "references": [1]},
                error="row 0 is 0.7, which is no label",
            ),
        ),
        limits=(
            "Undefined, and 0 by convention, where references or predictions are all of one class. With more than "
            "two classes the lowest value lies between -1 and 0."
        ),
        citation=(
            "Matthews, Comparison of the predicted and observed secondary structure of T4 phage lysozyme, Biochimica "
            "et Biophysica Acta 405 (1975) 442-451; Gorodkin, Computational Biology and Chemistry 28 (2004) 367-374."
        ),
        tasks=("text-classification",),
    )
    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Cells | Sums:
        """Cells of a confusion matrix; for rows of 0 and 1 hits, true and said of each class, then the weight."""
        state = state_of(predictions, references, sample_weight)
        if isinstance(state, Cells):
            return state
        weight = np.ones(len(state)) if sample_weight is None else sample_weight
        return Sums(np.column_stack([state.rows, weight]))

    def formula(self, total: Confusion | Floats, *, average: str | None = None) -> dict[str, Floats]:
        """The coefficient of one matrix, or of one for each class."""
        if average not in (None, "macro"):
            raise ValueError(f"average is None or 'macro', not {average!r}")
        if isinstance(total, Confusion):
            return {"matthews_correlation": matthews(total.hits.sum(-1), total.true, total.said)}
        hits, true, said = np.moveaxis(total[..., :-2].reshape(*total.shape[:-1], 3, -1), -2, 0)
        n = total[..., -2:-1]
        right = n - true - said + 2 * hits
        each = matthews(right, np.stack([n - true, true], -1), np.stack([n - said, said], -1))
        return {"matthews_correlation": each.mean(-1) if average else each}
