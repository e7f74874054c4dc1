"""Mean absolute scaled error."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.metrics.mae import absolute
from dynabench.evaluate.numbers.mean_errors import INPUTS, OPTIONS, TASKS, MeanError, Multioutput, combined, means
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_

TINY = np.finfo(float).eps  # what Hugging Face `evaluate` divides by in place of 0


class Mase(MeanError):
    """The mean absolute error, compared with that of repeating the last season of the training series."""

    card = Card(
        description=N_(
            "The mean absolute error of a forecast divided by that of the naive forecast within the training series, "
            "which repeats what was one period earlier. Below 1 it is better than that."
        ),
        formula=r"\frac{\frac{1}{\sum_i w_i} \sum_i w_i \left| \hat y_i - y_i \right|}"
        r"{\frac{1}{T-m} \sum_{t=m+1}^{T} \left| x_t - x_{t-m} \right|}",
        inputs=INPUTS,
        options={
            **OPTIONS,
            "training": "the series before the forecast, in order of time: numbers, or rows of numbers",
            "periodicity": "how many steps a season has; 1 (the default) repeats the step before",
        },
        outputs=(Output("mase", "mean absolute scaled error, or a list of them", 0, None, "lower"),),
        examples=(
            Example(
                "Five steps after seven",
                {"predictions": [2.5, 0.0, 2, 8, 1.25], "references": [3, -0.5, 2, 7, 2]},
                {"mase": 0.18333333333333335},
                {"training": [5, 0.5, 4, 6, 3, 5, 2]},
            ),
            Example(
                "Two series, each by itself",
                {"predictions": [[0, 2], [-1, 2], [8, -5]], "references": [[0.5, 1], [-1, 1], [7, -6]]},
                {"mase": [0.10526316, 0.28571429]},
                {"training": [[0.5, 1], [-1, 1], [7, -6]], "multioutput": "raw_values"},
                "multilist",
            ),
            Example(
                "A constant series that is forecast exactly",
                {"predictions": [3, 3], "references": [3, 3]},
                {"mase": 0.0},
                {"training": [3, 3, 3]},
            ),
            Example(
                "A constant series that is not",
                {"predictions": [3, 4], "references": [3, 3]},
                options={"training": [3, 3, 3]},
                error="training repeats itself exactly",
            ),
        ),
        limits=(
            "Undefined where the training series repeats itself exactly, so that the naive forecast has no error: then "
            "an exact forecast scores 0 and any other is refused (Hugging Face evaluate divides by 2.2e-16, as "
            "compat=True does here). Several outputs are combined before the division, as there: the mean of the "
            "errors over the mean of the naive errors. The scale of a short training series is uncertain."
        ),
        citation=(
            "Hyndman and Koehler, Another look at measures of forecast accuracy, International Journal of Forecasting "
            "22 (2006) 679-688."
        ),
        tasks=TASKS,
        references=("https://otexts.com/fpp3/accuracy.html#scaled-errors",),
    )

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
