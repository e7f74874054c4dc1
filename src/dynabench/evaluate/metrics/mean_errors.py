"""Mean squared, absolute, percentage and scaled errors."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.numbers.mean_errors import MeanError, Multioutput, combine_outputs, mean_errors
from dynabench.evaluate.ratios import ratio

TINY = np.finfo(float).eps  # what Hugging Face `evaluate` (and scikit-learn) divide by in place of 0


def squared_errors(predictions: Floats, references: Floats) -> Floats:
    """Return the squared distance of each prediction from its reference."""
    return np.square(predictions - references)


class Mse(MeanError, name="mse"):
    """The mean of squared errors, or its root."""

    error = staticmethod(squared_errors)

    def formula(
        self, total: Floats, *, multioutput: Multioutput = "uniform_average", squared: bool = True
    ) -> dict[str, Floats]:
        """The mean of each output or its root, combined."""
        errors = mean_errors(total)
        return {"mse": combine_outputs(errors if squared else np.sqrt(errors), multioutput)}


def absolute_errors(predictions: Floats, references: Floats) -> Floats:
    """The distance of each prediction from its reference."""
    return np.abs(predictions - references)


class Mae(MeanError, name="mae"):
    """The mean distance between prediction and reference."""

    error = staticmethod(absolute_errors)


class Mape(MeanError, name="mape"):
    """The mean distance between prediction and reference, as a share of the reference."""

    def error(self, predictions: Floats, references: Floats) -> Floats:
        """Return distances as a share of the reference.

        Raises ValueError for a wrong prediction of a reference of 0.
        """
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


def symmetric_errors(predictions: Floats, references: Floats) -> Floats:
    """Twice the distance over the sum of both sizes; 0 where both are 0."""
    return ratio(2 * np.abs(predictions - references), np.abs(references) + np.abs(predictions))


class Smape(MeanError, name="smape"):
    """The mean distance between prediction and reference, as a share of the mean of both."""

    error = staticmethod(symmetric_errors)


class Mase(MeanError, name="mase"):
    """The mean absolute error, compared with that of repeating the last season of the training series."""

    error = staticmethod(absolute_errors)

    def formula(
        self,
        total: Floats,
        *,
        training: Any = None,
        periodicity: int = 1,
        multioutput: Multioutput = "uniform_average",
    ) -> dict[str, Floats]:
        """The mean error over the naive forecast's, both combined over outputs."""
        error = combine_outputs(mean_errors(total), multioutput)
        naive = combine_outputs(_naive(training, periodicity, total.shape[-1] - 2), multioutput)
        if self.compat:
            return {"mase": error / np.maximum(naive, TINY)}
        if ((naive == 0) & (error > 0)).any():
            raise ValueError(
                f"training repeats itself exactly with periodicity={periodicity}: there is no error to scale by; "
                "use mae, or a longer series"
            )
        return {"mase": ratio(error, naive)}


def _naive(training: Any, periodicity: int, outputs: int) -> Floats:
    """The mean absolute error of repeating the value of one period before, shape (K,)."""
    if training is None:
        raise ValueError("mase needs training=..., the series before the forecast, to know what a large error is")
    series = Numbers(wide=True).clean(training, "training")
    series = series[:, None] if series.ndim == 1 else series
    if series.shape[1] != outputs:
        raise ValueError(f"training has {series.shape[1]} series, predictions have {outputs}")
    if periodicity != int(periodicity) or not 1 <= periodicity < len(series):
        raise ValueError(
            f"periodicity={periodicity} needs to be whole, at least 1 and less than the length of training, "
            f"{len(series)}"
        )
    periodicity = int(periodicity)
    result: Floats = np.abs(series[periodicity:] - series[:-periodicity]).mean(0)
    return result
