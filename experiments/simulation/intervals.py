"""Means and paired differences over seeds and items, with intervals.

Seeds are crossed with the test rows: the models of all seeds answer the same rows. The variance of a mean is then that
between seeds plus that between clusters of items, each as if the other did not vary (Cameron, Gelbach and Miller,
Journal of Business & Economic Statistics 29 (2011) 238-249, whose third term, left out here, would make it smaller).
A bootstrap of a few seeds gives intervals that are too narrow; Student's t is used, with one degree of freedom less
than there are seeds.
"""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from dynabench.stats.clusters import ClusteredEstimate
from experiments.simulation.selection import FloatArray

CONFIDENCE = 0.95


def estimate_crossed_mean(values: ArrayLike, clusters: ArrayLike) -> ClusteredEstimate:
    """Estimate the mean of `values`, shape (seeds, items), over seeds and clusters of items.

    `clusters` has the cluster of each item, shape (items,).
    """
    array = np.asarray(values, float)
    mean = float(array.mean())
    cluster = np.unique(np.asarray(clusters), return_inverse=True)[1]
    deviations = np.bincount(cluster, array.mean(0) - mean)
    correction = len(deviations) / (len(deviations) - 1) if len(deviations) > 1 else 0.0
    return _estimate(mean, array.mean(1), correction * float(deviations @ deviations) / array.shape[1] ** 2)


def estimate_seed_mean(values: ArrayLike) -> ClusteredEstimate:
    """Estimate the mean of one value per seed, shape (seeds,), where items are fixed or each seed has its own."""
    array = np.asarray(values, float)
    return _estimate(float(array.mean()), array, 0.0)


def _estimate(mean: float, seed_means: FloatArray, item_variance: float) -> ClusteredEstimate:
    seeds = len(seed_means)
    if seeds < 2:
        return ClusteredEstimate(mean)
    error = sqrt(float(seed_means.var(ddof=1)) / seeds + item_variance)
    if error <= 1e-12:
        return ClusteredEstimate(mean)
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(seeds - 1, 0.5 + CONFIDENCE / 2)) * error
    return ClusteredEstimate(mean, mean - half, mean + half, float(2 * stdtr(seeds - 1, -abs(mean) / error)))
