"""Matthews correlation."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.classes.averages import classification_state
from dynabench.evaluate.columns import Floats, LabelsOrSets, Weights
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Cells, Confusion, Sums


def matthews(right: NDArray[Any], true: NDArray[Any], predicted: NDArray[Any]) -> Floats:
    """The coefficient R_K from the number of right rows, (...), and sums of rows and columns of matrices, (..., K).

    0 where either side is of one class. Gorodkin, Comparing two K-category assignments by a K-category correlation
    coefficient (2004), equation 8.
    """
    n = true.sum(-1, dtype=float)
    if true.dtype.kind == "f":  # weights may be so large that their squares are no floats
        right, true, predicted, n = (
            ratio(right, n),
            ratio(true, n[..., None]),
            ratio(predicted, n[..., None]),
            ratio(n, n),
        )
    right, true, predicted = right.astype(float), true.astype(float), predicted.astype(float)
    spread = np.clip(n**2 - (predicted**2).sum(-1), 0, None) * np.clip(n**2 - (true**2).sum(-1), 0, None)
    flat = ((true > 0).sum(-1) < 2) | ((predicted > 0).sum(-1) < 2)  # rounding may leave more than 0
    return ratio(right * n - (true * predicted).sum(-1), np.where(flat, 0, np.sqrt(spread)))


class MatthewsCorrelation(Metric):
    """The correlation between predictions and references."""

    columns = {"predictions": LabelsOrSets(), "references": LabelsOrSets()}
    optional = {"sample_weight": Weights()}
    configs = ("default", "multilabel")

    def update(self, predictions: Any, references: Any, sample_weight: Floats | None = None) -> Cells | Sums:
        """Return cells of a confusion matrix.

        For rows of 0 and 1 the state holds hits, true and predicted rows of each class, then the weight.
        """
        state = classification_state(predictions, references, sample_weight)
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
        hits, true, predicted = np.moveaxis(total[..., :-2].reshape(*total.shape[:-1], 3, -1), -2, 0)
        n = total[..., -2:-1]
        right = n - true - predicted + 2 * hits
        by_class = matthews(right, np.stack([n - true, true], -1), np.stack([n - predicted, predicted], -1))
        return {"matthews_correlation": by_class.mean(-1) if average else by_class}
