"""Mean absolute scaled error."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.metrics.mae import absolute
from dynabench.evaluate.numbers.mean_errors import MeanError, Multioutput, combined, means
from dynabench.evaluate.ratios import ratio

TINY = np.finfo(float).eps  # what Hugging Face `evaluate` divides by in place of 0


class Mase(MeanError):
    """The mean absolute error, compared with that of repeating the last season of the training series."""

    error = staticmethod(absolute)

    def formula(
        self,
        total: Floats,
        *,
        training: Any = None,
        periodicity: int = 1,
        multioutput: Multioutput = "uniform_average",
    ) -> dict[str, Floats]:
        """The mean error over the naive forecast's, both combined over outputs."""
        error = combined(means(total), multioutput)
        naive = combined(_naive(training, periodicity, total.shape[-1] - 2), multioutput)
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
