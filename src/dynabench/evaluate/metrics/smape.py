"""Symmetric mean absolute percentage error."""

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import INPUTS, OPTIONS, TASKS, MeanError
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_


def symmetric(predictions: Floats, references: Floats) -> Floats:
    """Twice the distance over the sum of both sizes; 0 where both are 0."""
    return ratio(2 * np.abs(predictions - references), np.abs(references) + np.abs(predictions))


class Smape(MeanError):
    """The mean distance between prediction and reference, as a share of the mean of both."""

    card = Card(
        description=N_(
            "How far predictions are from references on average, as a share of the mean of their sizes: from 0 "
            "(all exact) to 2 (all of the wrong sign, or against 0)."
        ),
        formula=r"\frac{1}{\sum_i w_i} \sum_i w_i "
        r"\frac{2 \left| \hat y_i - y_i \right|}{\left| y_i \right| + \left| \hat y_i \right|}",
        inputs=INPUTS,
        options=OPTIONS,
        outputs=(Output("smape", "symmetric mean absolute percentage error, or a list of them", 0, 2, "lower"),),
        examples=(
            Example(
                "Four numbers",
                {"predictions": [2.5, 0.0, 2, 8], "references": [3, -0.5, 2, 7]},
                {"smape": 0.5787878787878785},
            ),
            Example(
                "Two outputs, each by itself",
                {"predictions": [[0.5, 1], [-1, 1], [7, -6]], "references": [[0.1, 2], [-1, 2], [8, -5]]},
                {"smape": [0.48888889, 0.50505051]},
                {"multioutput": "raw_values"},
                "multilist",
            ),
            Example("0 for 0 is exact, 1 for 0 is not", {"predictions": [0, 1], "references": [0, 0]}, {"smape": 1.0}),
            Example("A text is no number", {"predictions": ["much"], "references": [1]}, error="not a number"),
        ),
        limits=(
            "Not symmetric in spite of its name: a forecast that is too low costs more than one that is too high by as "
            "much. Any prediction against a reference of 0 costs 2. Several definitions exist; this one, of Chen and "
            "Yang, goes up to 2 (200 %)."
        ),
        citation="Chen and Yang, Assessing forecast accuracy measures, 2004.",
        tasks=TASKS,
        references=("https://robjhyndman.com/hyndsight/smape/",),
    )

    error = staticmethod(symmetric)
