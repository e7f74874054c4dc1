"""Ratios that are defined where their base is 0."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def ratio(top: ArrayLike, bottom: ArrayLike, default: float = 0.0) -> NDArray[Any]:
    """top / bottom, of their common shape; `default` where `bottom` is 0."""
    over, under = np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float))
    result: NDArray[Any] = np.divide(over, under, out=np.full(over.shape, default), where=under != 0)
    return result
