"""pass@k: the probability that one of k programs passes, from n programs that ran and c that passed.

Source: Chen et al., Evaluating Large Language Models Trained on Code, arXiv:2107.03374 (2021), equation 1.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dynabench.evaluate.columns import Floats

KS = (1, 10, 100)


def pass_at_k(n: ArrayLike, c: ArrayLike, k: int) -> Floats:
    """The unbiased estimate 1 - C(n - c, k) / C(n, k) of each problem, shape of `n`; NaN where n < k."""
    tried, passed = np.broadcast_arrays(np.asarray(n, float), np.asarray(c, float))
    none = np.ones(tried.shape)
    for step in range(k):
        none *= np.clip(tried - passed - step, 0, None) / np.maximum(tried - step, 1)
    result: Floats = np.where(tried < k, np.nan, 1 - none)
    return result


def pass_at_k_table(n: ArrayLike, c: ArrayLike, ks: Sequence[int]) -> Floats:
    """`pass_at_k` of each problem for each k, shape (problems, len(ks))."""
    return np.stack([pass_at_k(n, c, k) for k in ks], -1)


def means_by_name(means: Floats, ks: Sequence[int]) -> dict[str, Floats]:
    """Return means over problems, shape (..., len(ks)), by name, without each k that exceeds a problem's programs.

    Raises ValueError where no k is left.
    """
    whole = {f"pass@{k}": means[..., place] for place, k in enumerate(ks) if not np.isnan(means[..., place]).all()}
    if not whole:
        raise ValueError(f"each k of {list(ks)} is more than some problem's number of programs; give a smaller k")
    return whole


def check_ks(k: int | Sequence[int]) -> tuple[int, ...]:
    """Return `k` as whole numbers from 1. Raises ValueError for anything else."""
    ks = tuple(k) if isinstance(k, Sequence | np.ndarray) else (k,)
    if not ks or not all(isinstance(item, int | np.integer) and item >= 1 for item in ks):
        raise ValueError(f"k is {k!r}; give whole numbers from 1, such as [1, 10]")
    return tuple(int(item) for item in ks)
