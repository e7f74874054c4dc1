"""Mahalanobis distance."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Numbers
from dynabench.evaluate.module import Metric
from dynabench.evaluate.states import Rows
from dynabench.evaluate.values import to_plain


class Mahalanobis(Metric):
    """Distance of points from a distribution, in units of its spread."""

    columns = {"X": Numbers(wide=True)}
    arrays = True

    def update(self, X: Floats) -> Rows:
        """The points. Raises ValueError where a point is a single number."""
        if X.ndim != 2:
            raise ValueError("X: give a row of numbers for each point, such as [[0.5], [1.5]]")
        return Rows((X,))

    def result(
        self, state: Any, *, reference_distribution: Any = None, squared: bool = True, **options: Any
    ) -> dict[str, Any]:
        """A list with a distance for each point. Raises ValueError for reference rows that do not fit."""
        distances: dict[str, Any] = to_plain(
            self.per_example(state, reference_distribution=reference_distribution, squared=squared)
        )
        return distances

    def per_example(
        self, state: Any, *, reference_distribution: Any = None, squared: bool = True, **options: Any
    ) -> dict[str, Any]:
        """The distance of each point, shape (n,)."""
        (points,) = state.columns
        reference = _reference(reference_distribution, points.shape[1])
        middle = reference.mean() if self.compat else reference.mean(0)
        with np.errstate(over="ignore", invalid="ignore"):
            spread = np.atleast_2d(np.cov(reference, rowvar=False))
        if not np.isfinite(spread).all():
            raise ValueError("reference_distribution spreads further than a float can hold; scale all rows down")
        inverse = np.linalg.pinv(spread, hermitian=True)
        with np.errstate(over="ignore", invalid="ignore"):
            off = points - middle
            square = np.maximum(((off @ inverse) * off).sum(1), 0)
        if not np.isfinite(square).all():
            far = int((~np.isfinite(square)).argmax())
            raise ValueError(f"X: row {far} is further away than a float can hold; scale all rows down")
        return {"mahalanobis": square if squared else np.sqrt(square)}


def _reference(rows: Any, size: int) -> Floats:
    """Reference rows, shape (m, size). Raises ValueError for anything else."""
    if rows is None:
        raise ValueError("mahalanobis needs reference_distribution=..., the rows to measure the distance from")
    clean = Numbers(wide=True).clean(rows, "reference_distribution")
    if clean.ndim != 2 or clean.shape[1] != size:
        raise ValueError(f"reference_distribution: give rows of {size} numbers, as many as the points have")
    if len(clean) < 2:
        raise ValueError("reference_distribution needs at least 2 rows: one has no spread")
    return clean
