"""Bootstrap replicates whose random numbers belong to the data, so that everything scored on them is paired.

Which rows the i-th replicate holds follows from the data's digest and the number of rows alone, so two models that were
scored years apart are compared on the same samples, and two copies of one model always tie. Sources: Efron and
Tibshirani, An Introduction to the Bootstrap (1993), chapter 6; O'Neill, PCG: a family of simple fast
space-efficient statistically good algorithms for random number generation (2014); Lemire, ACM Transactions on
Modeling and Computer Simulation 29 (2019) 3:1-12 (random numbers below n by multiplication).
"""

from collections.abc import Iterator
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
TIMES = 1000
BLOCK = 1 << 18  # numbers of rows drawn at once: they stay in the processor's cache


def draws(digest: str, n: int, times: int = TIMES) -> Iterator[Ints]:
    """Numbers of rows 0..n-1 drawn with replacement, in blocks (b, n), `times` rows of numbers in all.

    The i-th is the same whatever `times` is, on every machine and under every version of NumPy, which promises this of
    the bits that are used here, but not of its own random integers. A row's chance differs from 1 / n by less than
    2**-32. Raises ValueError unless 1 <= n < 2**31.
    """
    if not 1 <= n < 2**31:
        raise ValueError(f"replicates need at least one row and fewer than 2**31, not {n:,}")
    bits = np.random.PCG64(int.from_bytes(sha256(digest.encode()).digest(), "little"))
    words = (n + 1) // 2  # each of 64 bits makes two numbers
    size = max(BLOCK // n, 1)
    for start in range(0, times, size):
        block = min(size, times - start)
        drawn = bits.random_raw(block * words).astype("<u8", copy=False).view("<u4").astype(np.uint64)
        yield ((drawn * np.uint64(n)) >> np.uint64(32)).view(np.int64).reshape(block, 2 * words)[:, :n]


def counts(digest: str, kinds: NDArray[np.integer], size: int, times: int = TIMES) -> Iterator[Ints]:
    """How often rows of each kind 0..size-1 come in each replicate, one (size,) after the other.

    `kinds`, shape (n,), has the kind of each row. Raises ValueError as `draws` does.
    """
    narrow = np.asarray(kinds).astype(np.min_scalar_type(max(size, 1)))  # narrow numbers stay in the cache
    for block in draws(digest, len(narrow), times):
        for rows in block:
            yield np.bincount(narrow[rows], minlength=size)


def means(values: ArrayLike, digest: str, times: int = TIMES) -> Floats:
    """Means over rows in each replicate, shape (times,), of `values`, shape (n,).

    Raises ValueError as `draws` does, and for values that are not finite.
    """
    rows = np.asarray(values, float)
    if rows.ndim != 1 or not np.isfinite(rows).all():
        raise ValueError("replicates of a mean need one finite value for each row")
    different, kinds = np.unique(rows, return_inverse=True)
    if len(different) * 2 > len(rows):
        return np.concatenate([rows[block].mean(1) for block in draws(digest, len(rows), times)])
    found: Floats = np.array([drawn @ different for drawn in counts(digest, kinds.ravel(), len(different), times)])
    return found / len(rows)
