"""The coefficient of determination."""

from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.moments import Moments, varying
from dynabench.evaluate.ratios import ratio
from dynabench.language import N_


class RSquared(Metric):
    """The share of the references' variance that the predictions explain."""

    card = Card(
        description=N_(
            "The share of the references' variance that predictions explain: 1 for exact predictions, 0 for "
            "predictions as good as the mean of the references, below 0 for worse ones."
        ),
        formula=r"R^2 = 1 - \frac{\sum_i (y_i - \hat y_i)^2}{\sum_i (y_i - \bar y)^2}",
        inputs={
            "predictions": "predicted number of each example",
            "references": "right number of each example",
        },
        outputs=(Output("r_squared", "coefficient of determination", None, 1, "higher"),),
        examples=(
            Example(
                "A good fit",
                {"predictions": [1, 2, 3, 4], "references": [0.9, 2.1, 3.2, 3.8]},
                {"r_squared": 1 - 0.1 / 4.9},
            ),
            Example(
                "Worse than predicting the mean",
                {"predictions": [3, 2, 1], "references": [1, 2, 3]},
                {"r_squared": -3.0},
            ),
            Example(
                "References that are all the same have no variance to explain",
                {"predictions": [1, 2], "references": [2, 2]},
                error="references are all 2.0",
            ),
        ),
        limits=(
            "Has no lower bound. It grows with the spread of the references, so it cannot be compared between data "
            "sets, and it is not the square of the correlation unless predictions are calibrated. Undefined for "
            "references that are all the same, and for one example: that is refused. compat=True gives the bare number "
            "rounded to three decimals, as Hugging Face evaluate does."
        ),
        citation="Wright, Correlation and causation, Journal of Agricultural Research 20 (1921) 557-585.",
        tasks=("tabular-regression", "time-series-forecasting"),
        references=("https://en.wikipedia.org/wiki/Coefficient_of_determination",),
    )
    columns = {"predictions": Numbers(), "references": Numbers()}

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """References, of which the spread counts, and errors, of which the size does; on one scale."""
        with np.errstate(over="ignore"):
            errors = predictions - references
        if not np.isfinite(errors).all():
            raise ValueError("predictions and references differ by more than a float can hold; scale both down")
        return Moments(np.stack([references, errors], 1), (True, False), alike=True)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """1 - squared errors / squared spread; NaN (left out of intervals) where a resample is constant."""
        return {"r_squared": 1 - ratio(total[..., 3], varying(total[..., 2], total[..., 0], total[..., 5]), np.nan)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError for references without spread."""
        references = state.pairs[:, 0]
        if references.min() == references.max():
            raise ValueError(f"references are all {references[0]}: there is no variance to explain; use mae or mse")
        return super().result(state, **options)

    def compatible(self, result: dict[str, Any]) -> float:
        """The bare number, rounded to three decimals."""
        return round(float(result["r_squared"]), 3)
