"""Ratios with a default, best pairings, plain Python of NumPy values, and errors that ask for options or a library."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def ratio(top: ArrayLike, bottom: ArrayLike, default: float = 0.0) -> NDArray[Any]:
    """Return top / bottom, of their common shape; `default` where `bottom` is 0."""
    over, under = np.broadcast_arrays(np.asarray(top, float), np.asarray(bottom, float))
    result: NDArray[Any] = np.divide(over, under, out=np.full(over.shape, default), where=under != 0)
    return result


def best_pairing(weights: NDArray[Any]) -> float:
    """Return the largest sum of weights (n, m) of pairs in which each row and each column occurs once at most."""
    from scipy.optimize import linear_sum_assignment  # tasks name metrics, and web processes start without scipy

    return float(weights[linear_sum_assignment(weights, maximize=True)].sum())


def zero_division_value(zero_division: Any) -> float:
    """Return the value of a ratio with denominator 0, from scikit-learn's option: 0, 1, or "warn", which is 0 here.

    Raises ValueError for anything else.
    """
    if isinstance(zero_division, str) and zero_division == "warn":
        return 0.0
    if zero_division in (0, 1):
        return float(zero_division)
    raise ValueError(f"zero_division is 0 or 1, not {zero_division!r}")


def to_plain(value: Any) -> Any:
    """Return `value` as a JSON value; numbers that are not finite have no JSON and become None."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    return value


class OptionChoiceError(ValueError):
    """The data need another choice of options; `choices` are options with which these data can be computed."""

    def __init__(self, message: str, choices: Sequence[Mapping[str, Any]]) -> None:
        super().__init__(message)
        self.choices = choices


class MissingLibrary(ValueError):
    """A library that an option or a model needs is not installed; the message says how to install it."""
