"""Distance of two sets of points: their histograms over common clusters, and divergences of these.

Sources: Pillutla and others, MAUVE: measuring the gap between neural text and human text using divergence
frontiers, NeurIPS 2021; Liu, Pillutla and others, Divergence frontiers for generative models, NeurIPS 2021.
"""

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.ratios import ratio

ROWS = 4096  # of which distances to all centres are held at once


def histograms(first: Floats, second: Floats, clusters: Ints, buckets: int) -> tuple[Floats, Floats]:
    """Return the share of the rows of each set in each cluster; `clusters` are those of `first`, then of `second`."""
    parts = np.split(clusters, [len(first)])
    counts = [np.bincount(part, minlength=buckets) for part in parts]
    return counts[0] / len(first), counts[1] / len(second)


def frontier(p: Floats, q: Floats, weights: Floats, scale: float) -> Floats:
    """The divergence curve, shape (len(weights) + 2, 2): exp(-scale * KL) of q and of p to each mixture
    w * p + (1 - w) * q, between the ends (1, 0) and (0, 1)."""
    mixtures = weights[:, None] * p + (1 - weights)[:, None] * q
    inner = np.exp(-scale * np.stack([_divergence(q, mixtures), _divergence(p, mixtures)], 1))
    return np.concatenate([[[1.0, 0.0]], inner, [[0.0, 1.0]]])


def area_under_frontier(curve: Floats) -> float:
    """The area below a curve from (1, 0) to (0, 1), by trapezoids; the same along either axis."""
    x, y = curve.T
    return float(((x[:-1] - x[1:]) * (y[:-1] + y[1:])).sum() / 2)


def frontier_integral(p: Floats, q: Floats) -> float:
    """Twice the mean over mixtures of w * KL(p, mixture) + (1 - w) * KL(q, mixture), w uniform: from 0 to 1."""
    unlike = (p > 0) & (q > 0) & (np.abs(p - q) > 1e-12 * (p + q))
    logarithm = np.log(np.where(unlike, p, 1)) - np.log(np.where(unlike, q, 1))
    mean = np.where((p > 0) & (q > 0), (p + q) / 2, 0)
    mean = np.where(unlike, ratio(p * q * logarithm, p - q), mean)
    return float(((p + q) / 2 - mean).sum())


def reduce_dimensions(points: Floats, explained: float, most: int, rng: np.random.Generator) -> Floats:
    """Points of length 1 in as many principal components as explain this share of their variance, shape (n, d').

    Components are of `most` points, drawn without replacement; of all where that is negative or not fewer than all.
    """
    points = points * ratio(1, np.linalg.norm(points, axis=1, keepdims=True))
    chosen = points if most < 0 or most >= len(points) else points[rng.choice(len(points), most, replace=False)]
    middle = chosen.mean(0)
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(chosen, rowvar=False, bias=True)))
    shares = np.cumsum(np.maximum(values[::-1], 0))
    size = int(np.searchsorted(shares, explained * shares[-1] * (1 - 1e-12))) + 1
    result: Floats = (points - middle) @ vectors[:, ::-1][:, :size]
    return result


def cluster_points(points: Floats, buckets: int, redo: int, most: int, rng: np.random.Generator) -> Ints:
    """The cluster of each point by k-means, shape (n,): the best of `redo` trials of up to `most` rounds each.

    Lloyd's rounds from centres drawn by k-means++ (Arthur and Vassilvitskii, 2007). Clusters are numbered by their
    first point.
    """
    best, least = np.zeros(len(points), np.int64), np.inf
    for _ in range(redo):
        centres = _spread(points, buckets, rng)
        last = np.full(len(points), -1)
        for _ in range(most):
            clusters, squares = _nearest(points, centres)
            if (clusters == last).all():
                break
            last = clusters
            centres = _centres(points, clusters, squares, buckets)
        clusters, squares = _nearest(points, centres)
        if squares.sum() < least:
            best, least = clusters, float(squares.sum())
    _, first, codes = np.unique(best, return_index=True, return_inverse=True)
    result: Ints = np.argsort(np.argsort(first))[codes]
    return result


def _divergence(p: Floats, mixtures: Floats) -> Floats:
    """KL(p, m) of each mixture, all of which are positive where p is."""
    held = p > 0
    result: Floats = (p[held] * np.log(p[held] / mixtures[:, held])).sum(1)
    return np.maximum(result, 0)


def _spread(points: Floats, buckets: int, rng: np.random.Generator) -> Floats:
    """Points as centres, each drawn in proportion to the squared distance from those before."""
    chosen = [int(rng.integers(len(points)))]
    squares = ((points - points[chosen[0]]) ** 2).sum(1)
    while len(chosen) < buckets:
        total = squares.sum()
        place = rng.choice(len(points), p=squares / total) if total > 0 else rng.integers(len(points))
        chosen.append(int(place))
        squares = np.minimum(squares, ((points - points[place]) ** 2).sum(1))
    return points[chosen]


def _nearest(points: Floats, centres: Floats) -> tuple[Ints, Floats]:
    """The nearest centre of each point and its squared distance, each of shape (n,)."""
    length = (centres**2).sum(1)
    clusters, squares = np.empty(len(points), np.int64), np.empty(len(points))
    for start in range(0, len(points), ROWS):
        part = points[start : start + ROWS]
        away = length - 2 * part @ centres.T
        closest = away.argmin(1)
        clusters[start : start + ROWS] = closest
        squares[start : start + ROWS] = away[np.arange(len(part)), closest] + (part**2).sum(1)
    return clusters, np.maximum(squares, 0)


def _centres(points: Floats, clusters: Ints, squares: Floats, buckets: int) -> Floats:
    """The mean of each cluster; one without points takes a point that is far from its own."""
    counts = np.bincount(clusters, minlength=buckets)
    sums = np.stack([np.bincount(clusters, column, buckets) for column in points.T], 1)
    centres = ratio(sums, counts[:, None])
    empty = np.flatnonzero(counts == 0)
    centres[empty[: len(points)]] = points[np.argsort(-squares, kind="stable")[: len(empty)]]
    return centres
