"""The coefficient of determination."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.numbers.moments import Moments, centred_squares
from dynabench.evaluate.ratios import ratio


class RSquared(Metric):
    """The share of the references' variance that the predictions explain."""

    columns = {"predictions": Numbers(), "references": Numbers()}

    def update(self, predictions: Floats, references: Floats) -> Moments:
        """Return references (of which the spread counts) and errors (of which the size counts), on one scale."""
        with np.errstate(over="ignore"):
            errors = predictions - references
        if not np.isfinite(errors).all():
            raise ValueError("predictions and references differ by more than a float can hold; scale both down")
        return Moments(np.stack([references, errors], 1), (True, False), alike=True)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """1 - squared errors / squared spread; NaN (left out of intervals) where a resample is constant."""
        return {
            "r_squared": 1 - ratio(total[..., 3], centred_squares(total[..., 2], total[..., 0], total[..., 5]), np.nan)
        }

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """See `Module`. Raises ValueError for references without spread."""
        references = state.pairs[:, 0]
        if references.min() == references.max():
            raise ValueError(f"references are all {references[0]}: there is no variance to explain; use mae or mse")
        return super().result(state, **options)

    def compatible(self, result: dict[str, Any]) -> float:
        """The bare number, rounded to three decimals."""
        return round(float(result["r_squared"]), 3)
