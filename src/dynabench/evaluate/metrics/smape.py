"""Symmetric mean absolute percentage error."""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import MeanError
from dynabench.evaluate.ratios import ratio


def symmetric(predictions: Floats, references: Floats) -> Floats:
    """Twice the distance over the sum of both sizes; 0 where both are 0."""
    return ratio(2 * np.abs(predictions - references), np.abs(references) + np.abs(predictions))


class Smape(MeanError):
    """The mean distance between prediction and reference, as a share of the mean of both."""

    error = staticmethod(symmetric)
