"""Mean squared error and its root."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import INPUTS, OPTIONS, TASKS, MeanError, Multioutput, combined, means
from dynabench.language import N_


def square(predictions: Floats, references: Floats) -> Floats:
    """The squared distance of each prediction from its reference."""
    return np.square(predictions - references)


class Mse(MeanError):
    """The mean of squared errors, or its root."""

    card = Card(
        description=N_(
            "The mean of the squared distances between predictions and references; with squared=False its root (RMSE), "
            "which is in the unit of the references."
        ),
        formula=r"\mathrm{MSE} = \frac{1}{\sum_i w_i} \sum_i w_i (\hat y_i - y_i)^2, \quad "
        r"\mathrm{RMSE} = \sqrt{\mathrm{MSE}}",
        inputs=INPUTS,
        options={**OPTIONS, "squared": "False gives the root of the mean squared error of each output"},
        outputs=(Output("mse", "mean squared error or its root, or a list of them", 0, None, "lower"),),
        examples=(
            Example(
                "Four numbers",
                {"predictions": [2.5, 0.0, 2, 8], "references": [3, -0.5, 2, 7]},
                {"mse": 0.375},
            ),
            Example(
                "The root (RMSE)",
                {"predictions": [2.5, 0.0, 2, 8], "references": [3, -0.5, 2, 7]},
                {"mse": 0.6123724356957945},
                {"squared": False},
            ),
            Example(
                "Two outputs, each by itself",
                {"predictions": [[0, 2], [-1, 2], [8, -5]], "references": [[0.5, 1], [-1, 1], [7, -6]]},
                {"mse": [5 / 12, 1.0]},
                {"multioutput": "raw_values"},
                "multilist",
            ),
            Example(
                "One number cannot stand against two",
                {"predictions": [1, 2], "references": [[1, 2], [3, 4]]},
                error="need one shape",
            ),
        ),
        limits=(
            "A few large errors decide it: one outlier can outweigh all other examples. Its size depends on the unit. "
            "The root over several outputs is the mean of the outputs' roots, not the root of their mean."
        ),
        citation="Gauss, Theoria combinationis observationum erroribus minimis obnoxiae, 1821.",
        tasks=TASKS,
    )

    error = staticmethod(square)

    def formula(
        self, total: Floats, *, multioutput: Multioutput = "uniform_average", squared: bool = True
    ) -> dict[str, Floats]:
        """The mean of each output or its root, combined."""
        each = means(total)
        return {"mse": combined(each if squared else np.sqrt(each), multioutput)}
