"""Bootstrap replicates whose random numbers depend on the data alone, so that all scores on the data are paired.

The rows of the i-th replicate follow from the data's digest and the number of rows alone, so two models that
were scored years apart are compared on the same samples, and two copies of one model always tie. Sources:
Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapter 6; O'Neill, PCG: a family of simple
fast space-efficient statistically good algorithms for random number generation (2014); Lemire, ACM
Transactions on Modeling and Computer Simulation 29 (2019) 3:1-12 (random numbers below n by multiplication).
"""

from collections.abc import Iterator
from hashlib import sha256

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
    between two sessions a cost varies at least as it does within one. `key` names the measurement, so that those
    of two models are independent. One repeat has no spread. Raises ValueError for none and for values that are
    not finite.
    """
    values = np.asarray(repeats, float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("replicates of a cost need at least one finite measurement")
    spread = values.std(ddof=1) if len(values) > 1 else 0.0
    costs: Floats = values.mean() + spread * np.random.default_rng(_seed(key)).standard_normal(times)
    return costs


def _seed(text: str) -> int:
    return int.from_bytes(sha256(text.encode()).digest(), "little")
