"""Ratios that are defined where their base is 0."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def ratio(top: ArrayLike, bottom: ArrayLike, default: float = 0.0) -> NDArray[Any]:
    """top / bottom, of their common shape; `default` where `bottom` is 0."""
    over, under = np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float))
    result: NDArray[Any] = np.divide(over, under, out=np.full(over.shape, default), where=under != 0)
    return result


def undefined(zero_division: Any) -> float:
    """The value of a ratio whose base is 0, from what users of scikit-learn say: 0, 1, or "warn", which is 0 here.

    Raises ValueError for anything else.
    """
    if isinstance(zero_division, str) and zero_division == "warn":
        return 0.0
    if zero_division in (0, 1):
        return float(zero_division)
    raise ValueError(f"zero_division is 0 or 1, not {zero_division!r}")
