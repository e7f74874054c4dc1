"""Bootstrap intervals from an estimate and its replicates.

Sources: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14. In agreement with
`scipy.stats.bootstrap`, but for one thing: where all replicates are equal, the interval is that value and not NaN.
"""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Method = Literal["bca", "percentile", "basic"]
METHODS: tuple[str, ...] = get_args(Method)


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """Limits and standard error of an estimate; each of the estimate's shape."""

    low: Floats
    high: Floats
    error: Floats


def interval(
    estimate: ArrayLike,
    replicates: ArrayLike,
    level: float = 0.95,
    method: str = "percentile",
    acceleration: ArrayLike = 0.0,
) -> BootstrapInterval:
    """Return the interval of `estimate`, shape (...), from `replicates`, shape (B, ...).

    `acceleration` (see the function) is used by the method "bca" alone. Replicates that are not finite (a class
    that was not drawn) are left out; with fewer than two left, all is NaN. Raises ValueError for a level outside
    (0, 1) or another method.
    """
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval lies between 0 and 1, not at {level}")
    if method not in METHODS:
        raise ValueError(f"no method {method!r}; there are {', '.join(METHODS)}")
    value, drawn = np.asarray(estimate, float), np.asarray(replicates, float)
    tail = (1 - level) / 2
    if not value.ndim:
        return _interval_of_value(value, drawn, tail, method, float(np.asarray(acceleration)))
    rates = np.broadcast_to(np.asarray(acceleration, float), value.shape)
    parts = [
        _interval_of_value(value[place], drawn[(slice(None), *place)], tail, method, float(rates[place]))
        for place in np.ndindex(value.shape)
    ]
    stack = [
        np.array([getattr(part, side) for part in parts]).reshape(value.shape) for side in ("low", "high", "error")
    ]
    return BootstrapInterval(*stack)


def acceleration(jackknife: ArrayLike, times: ArrayLike | None = None) -> Floats:
    """Return the rate at which the standard error changes with the estimate, from estimates without one row each.

    `jackknife` has shape (U, ...); `times`, shape (U,), says how many rows gave each of them (1 by default). 0
    where they do not vary. Efron and Tibshirani, equation 14.15.
    """
    estimates = np.asarray(jackknife, float)
    weight = np.ones(len(estimates)) if times is None else np.asarray(times, float)
    weight = weight.reshape(-1, *[1] * (estimates.ndim - 1))
    finite = np.isfinite(estimates)
    weight = np.where(finite, weight, 0.0)
    estimates = np.where(finite, estimates, 0.0)
    total = weight.sum(0)
    off = np.where(finite, (weight * estimates).sum(0) / np.where(total > 0, total, 1) - estimates, 0.0)
    top, bottom = (weight * off**3).sum(0), 6 * (weight * off**2).sum(0) ** 1.5
    result: Floats = np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 1e-300)
    return result


def _interval_of_value(value: Floats, drawn: Floats, tail: float, method: str, rate: float) -> BootstrapInterval:
    drawn = drawn[np.isfinite(drawn)]
    nothing = np.array(np.nan)
    if drawn.size < 2 or not np.isfinite(value):
        return BootstrapInterval(nothing, nothing, nothing)
    error = np.array(drawn.std(ddof=1))
    if drawn.min() == drawn.max():
        return BootstrapInterval(np.array(drawn[0]), np.array(drawn[0]), np.array(0.0))
    low, high = tail, 1 - tail
    if method == "bca":
        low, high = (_shifted(share, value, drawn, rate) for share in (tail, 1 - tail))
    limits = np.quantile(drawn, [low, high])
    if method == "basic":
        limits = 2 * value - limits[::-1]
    return BootstrapInterval(np.array(limits[0]), np.array(limits[1]), error)


def _shifted(share: float, value: Floats, drawn: Floats, rate: float) -> float:
    """The quantile of the replicates that BCa takes for `share`: equation 14.10."""
    normal = NormalDist()
    below = ((drawn < value).sum() + (drawn <= value).sum()) / (2 * drawn.size)
    if below in (0, 1):  # every replicate on one side: the correction has no limit, the end of the replicates has
        return float(below)
    bias = normal.inv_cdf(float(below))
    moved = bias + normal.inv_cdf(share)
    return normal.cdf(bias + moved / (1 - rate * moved))
