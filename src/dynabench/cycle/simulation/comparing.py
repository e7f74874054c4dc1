"""Means and paired differences over seeds and items, with intervals.

Seeds are crossed with the test rows: every seed's models answer the same ones. The variance of a mean is then that
between seeds plus that between clusters of items, each as if the other did not vary (Cameron, Gelbach and Miller,
Journal of Business & Economic Statistics 29 (2011) 238-249, whose third term, left out here, would make it smaller).
With few seeds a bootstrap of them is too narrow; Student's t with one degree of freedom less than there are seeds is
used instead.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynabench.stats.clusters import Estimate

Floats = NDArray[np.float64]
LEVEL = 0.95


def crossed(values: ArrayLike, clusters: ArrayLike) -> Estimate:
    """The mean of `values`, shape (seeds, items), over seeds and over items that come in `clusters`, shape (items,)."""
    each = np.asarray(values, float)
    mean = float(each.mean())
    cluster = np.unique(np.asarray(clusters), return_inverse=True)[1]
    off = np.bincount(cluster, each.mean(0) - mean)
    several = len(off) / (len(off) - 1) if len(off) > 1 else 0.0
    return _estimate(mean, each.mean(1), several * float(off @ off) / each.shape[1] ** 2)


def over_seeds(values: ArrayLike) -> Estimate:
    """The mean of one value of each seed, shape (seeds,): where every seed has items of its own, or they are fixed."""
    each = np.asarray(values, float)
    return _estimate(float(each.mean()), each, 0.0)


def _estimate(mean: float, of_seeds: Floats, of_items: float) -> Estimate:
    seeds = len(of_seeds)
    if seeds < 2:
        return Estimate(mean)
    error = sqrt(float(of_seeds.var(ddof=1)) / seeds + of_items)
    if error <= 1e-12:
        return Estimate(mean)
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(seeds - 1, 0.5 + LEVEL / 2)) * error
    return Estimate(mean, mean - half, mean + half, float(2 * stdtr(seeds - 1, -abs(mean) / error)))
