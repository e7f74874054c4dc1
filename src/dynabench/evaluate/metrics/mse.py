"""Mean squared error and its root."""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.numbers.mean_errors import MeanError, Multioutput, combined, means


def square(predictions: Floats, references: Floats) -> Floats:
    """The squared distance of each prediction from its reference."""
    return np.square(predictions - references)


class Mse(MeanError):
    """The mean of squared errors, or its root."""

    error = staticmethod(square)

    def formula(
        self, total: Floats, *, multioutput: Multioutput = "uniform_average", squared: bool = True
    ) -> dict[str, Floats]:
        """The mean of each output or its root, combined."""
        each = means(total)
        return {"mse": combined(each if squared else np.sqrt(each), multioutput)}
