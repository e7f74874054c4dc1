"""Tests by shuffling labels within groups: what would be seen if labels had nothing to do with what they stand beside.

Rows of one group (the examples of one writer) change labels among themselves alone, so that what a group is like counts
for nothing. Sources: Edgington and Onghena, Randomization Tests, 4th edition (2007), chapters 3 and 4; Mantel and
Haenszel, Journal of the National Cancer Institute 22 (1959) 719-748 (counts in strata); Westfall and Young,
Resampling-Based Multiple Testing (1993), chapter 2 (the largest of many statistics); Phipson and Smyth, Statistical
Applications in Genetics and Molecular Biology 9 (2010) (why one is added).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def strata(groups: ArrayLike) -> Ints:
    """The stratum of each row, shape (n,), numbered from 0: its group; groups of one row are one stratum together."""
    _, codes, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    alone = sizes[codes] == 1
    _, found = np.unique(np.where(alone, -1, codes), return_inverse=True)
    return found.astype(np.int64)


def shuffled(labels: Ints, within: Ints, times: int, rng: np.random.Generator) -> Ints:
    """Labels shuffled within strata, shape (times, n)."""
    rows = np.argsort(within, kind="stable")
    drawn = np.empty((times, len(labels)), np.int64)
    for each in drawn:
        each[rows] = labels[np.lexsort((rng.random(len(labels)), within))]
    return drawn


def p_value(seen: float, drawn: ArrayLike) -> float:
    """The share of shuffles, with the data themselves among them, whose statistic is as large as what was seen."""
    values = np.asarray(drawn, float)
    return float((1 + (values >= seen - 1e-12).sum()) / (1 + values.size))


def expected(present: Floats, onehot: Floats, within: Ints) -> tuple[Floats, Floats]:
    """Mean and variance of the counts present.T @ onehot over all shuffles within strata, of shape (words, labels).

    `present`, shape (strata, words), counts the rows of each stratum that have a word, `onehot`, shape (n, labels),
    marks the label of each row. In each stratum counts are hypergeometric (Mantel and Haenszel).
    """
    sizes = np.bincount(within).astype(float)
    labels = np.stack([np.bincount(within, column, len(sizes)) for column in onehot.T], 1)
    mean = present.T @ (labels / sizes[:, None])
    scale = np.where(sizes > 1, sizes**2 * np.maximum(sizes - 1, 1), np.inf)[:, None]
    variance = (present * (sizes[:, None] - present)).T @ (labels * (sizes[:, None] - labels) / scale)
    return mean, variance
