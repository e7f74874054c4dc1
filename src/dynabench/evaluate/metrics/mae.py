"""Mean absolute error."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import INPUTS, OPTIONS, TASKS, MeanError
from dynabench.language import N_


def absolute(predictions: Floats, references: Floats) -> Floats:
    """The distance of each prediction from its reference."""
    return np.abs(predictions - references)


class Mae(MeanError):
    """The mean distance between prediction and reference."""

    card = Card(
        description=N_("How far predictions are from references on average, in the unit of the references."),
        formula=r"\frac{1}{\sum_i w_i} \sum_i w_i \left| \hat y_i - y_i \right|",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(Output("mae", "mean absolute error, or a list with one for each output", 0, None, "lower"),),
        examples=(
            Example(
                "Four numbers",
                {"predictions": [2.5, 0.0, 2, 8], "references": [3, -0.5, 2, 7]},
                {"mae": 0.5},
            ),
            Example(
                "Two outputs, each by itself",
                {"predictions": [[0.5, 1], [-1, 1], [7, -6]], "references": [[0, 2], [-1, 2], [8, -5]]},
                {"mae": [0.5, 1.0]},
                {"multioutput": "raw_values"},
                "multilist",
            ),
            Example(
                "The second example weighs three times as much",
                {"predictions": [1, 2], "references": [1, 4], "sample_weight": [1, 3]},
                {"mae": 1.5},
            ),
            Example(
                "A missing number is no zero",
                {"predictions": [1.0, None], "references": [1, 2]},
                error="row 1 is missing",
            ),
        ),
        limits=(
            "Its size depends on the unit: compare it between systems on one data set, not between data sets. All "
            "errors count in proportion to their size; where large ones are worse than that, use mse."
        ),
        citation=(
            "Willmott and Matsuura, Advantages of the mean absolute error over the root mean square error in assessing "
            "average model performance, Climate Research 30 (2005) 79-82."
        ),
        tasks=TASKS,
    )

    error = staticmethod(absolute)
