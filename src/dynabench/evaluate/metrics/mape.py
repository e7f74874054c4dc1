"""Mean absolute percentage error."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import INPUTS, OPTIONS, TASKS, MeanError
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_

TINY = np.finfo(float).eps  # what Hugging Face `evaluate` (and scikit-learn) divide by in place of 0


class Mape(MeanError):
    """The mean distance between prediction and reference, as a share of the reference."""

    card = Card(
        description=N_(
            "How far predictions are from references on average, as a share of the reference (0.1 is 10 %)."
        ),
        formula=r"\frac{1}{\sum_i w_i} \sum_i w_i \frac{\left| \hat y_i - y_i \right|}{\left| y_i \right|}",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(Output("mape", "mean absolute error as a share, or a list of them", 0, None, "lower"),),
        examples=(
            Example(
                "Four numbers",
                {"predictions": [2.5, 0.0, 2, 8], "references": [3, -0.5, 2, 7]},
                {"mape": 0.3273809523809524},
            ),
            Example(
                "Two outputs, each by itself",
                {"predictions": [[0.5, 1], [-1, 1], [7, -6]], "references": [[0.1, 2], [-1, 2], [8, -5]]},
                {"mape": [1.375, 0.4]},
                {"multioutput": "raw_values"},
                "multilist",
            ),
            Example("A reference of 0 that is met", {"predictions": [0, 3], "references": [0, 2]}, {"mape": 0.25}),
            Example(
                "A reference of 0 that is missed",
                {"predictions": [1, 2], "references": [0, 2]},
                error="row 0 is 0, and its prediction is not",
            ),
        ),
        limits=(
            "Not bounded by 1, and undefined for a reference of 0 that is not predicted exactly: that is refused "
            "(Hugging Face evaluate divides by 2.2e-16 instead, as compat=True does here, and gives huge numbers). "
            "References near 0 dominate it, and forecasts that are too low cost less than those that are too high. "
            "smape and mase suffer less from this."
        ),
        citation=(
            "de Myttenaere, Golden, Le Grand and Rossi, Mean absolute percentage error for regression models, "
            "Neurocomputing 192 (2016) 38-48."
        ),
        tasks=TASKS,
    )

    def error(self, predictions: Floats, references: Floats) -> Floats:
        """Distances as a share of the reference. Raises ValueError for a reference of 0 that is missed."""
        off, size = np.abs(predictions - references), np.abs(references)
        if self.compat:
            return off / np.maximum(size, TINY)
        broken = (size == 0) & (off > 0)
        if broken.any():
            raise ValueError(
                f"references: row {int(np.argwhere(broken)[0][0])} is 0, and its prediction is not: there is no "
                "percentage of 0; use smape, mase or mae, or leave such rows out"
            )
        return ratio(off, size)
