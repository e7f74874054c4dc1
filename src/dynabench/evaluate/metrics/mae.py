"""Mean absolute error."""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import MeanError


def absolute(predictions: Floats, references: Floats) -> Floats:
    """The distance of each prediction from its reference."""
    return np.abs(predictions - references)


class Mae(MeanError):
    """The mean distance between prediction and reference."""

    error = staticmethod(absolute)
