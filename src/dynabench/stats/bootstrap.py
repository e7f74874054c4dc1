"""Bootstrap replicates whose random numbers depend on the data alone, and intervals from an estimate and replicates.

The rows of the i-th replicate follow from the data's digest and the number of rows alone, so two models that
were scored years apart are compared on the same samples, and two copies of one model always tie. Sources:
Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 6; O'Neill, PCG: a family of simple
fast space-efficient statistically good algorithms for random number generation (2014); Lemire, ACM
Transactions on Modeling and Computer Simulation 29 (2019) 3:1-12 (random numbers below n by multiplication).

Sources: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 13 and 14. In agreement with
`scipy.stats.bootstrap`, but for one thing: where all replicates are equal, the interval is that value and not NaN.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from statistics import NormalDist
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REPLICATES = 1000
BLOCK = 1 << 18  # numbers of rows drawn at once: they stay in the processor's cache
FEW_KINDS = 6  # kinds of rows that are counted by comparing


def row_draws(digest: str, n: int, times: int = REPLICATES) -> Iterator[Ints]:
    """Yield numbers of rows 0..n-1 drawn with replacement, in blocks (b, n), `times` rows of numbers in all.

    The i-th is the same whatever `times` is, on every machine and under every version of NumPy, which promises
    this of the bits that are used here, but not of its own random integers. A row's chance differs from 1 / n by
    less than 2**-32. Raises ValueError unless 1 <= n < 2**31.
    """
    if not 1 <= n < 2**31:
        raise ValueError(f"replicates need at least one row and fewer than 2**31, not {n:,}")
    bits = np.random.PCG64(_seed(digest))
    words = (n + 1) // 2  # each of 64 bits makes two numbers
    size = max(BLOCK // n, 1)
    for start in range(0, times, size):
        block = min(size, times - start)
        drawn = bits.random_raw(block * words).astype("<u8", copy=False).view("<u4").astype(np.uint64)
        yield ((drawn * np.uint64(n)) >> np.uint64(32)).view(np.int64).reshape(block, 2 * words)[:, :n]


def kind_counts(digest: str, kinds: NDArray[np.integer], size: int, times: int = REPLICATES) -> Iterator[Ints]:
    """Yield counts of rows of each kind 0..size-1 in each replicate, one (size,) after the other.

    `kinds`, shape (n,), has the kind of each row. Raises ValueError as `row_draws` does.
    """
    few = size <= FEW_KINDS
    table = np.asarray(kinds).astype(np.uint8 if few else np.intp)
    for block in row_draws(digest, len(table), times):
        for rows in block:
            drawn = table.take(rows)
            yield _count_by_comparing(drawn, size) if few else np.bincount(drawn, minlength=size)


def _count_by_comparing(kinds: NDArray[np.uint8], size: int) -> Ints:
    """`np.bincount`, quicker where there are few kinds."""
    totals = np.zeros(max(size, 1), np.int64)
    for kind in range(1, size):
        totals[kind] = np.count_nonzero(kinds == kind)
    totals[0] = len(kinds) - totals.sum()
    return totals[:size]


def mean_replicates(values: ArrayLike, digest: str, times: int = REPLICATES) -> Floats:
    """Return means over rows in each replicate, shape (times,), of `values`, shape (n,).

    Raises ValueError as `row_draws` does, and for values that are not finite.
    """
    rows = np.asarray(values, float)
    if rows.ndim != 1 or not np.isfinite(rows).all():
        raise ValueError("replicates of a mean need one finite value for each row")
    different, kinds = np.unique(rows, return_inverse=True)
    if len(different) * 2 > len(rows):
        return np.concatenate([rows[block].mean(1) for block in row_draws(digest, len(rows), times)])
    sums: Floats = np.array([drawn @ different for drawn in kind_counts(digest, kinds.ravel(), len(different), times)])
    return sums / len(rows)


def cost_replicates(repeats: ArrayLike, key: str, times: int = REPLICATES) -> Floats:
    """Return replicates, shape (times,), of a cost measured by `repeats`, shape (R,), with nothing else running.

    Their mean plus normal errors of the repeats' standard deviation, which is not divided by the root of R:
    between two sessions a cost varies at least as it does within one. No cost is below zero. `key` names the
    measurement, so that those of two models are independent. One repeat has no spread. Raises ValueError for none
    and for values that are not finite.
    """
    values = np.asarray(repeats, float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("replicates of a cost need at least one finite measurement")
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    costs: Floats = values.mean() + spread * np.random.default_rng(_seed(key)).standard_normal(times)
    return np.maximum(costs, 0.0)


def _seed(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest(), "little")


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
