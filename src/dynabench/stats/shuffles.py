"""Tests by shuffling labels within groups: the statistics to expect if labels were unrelated to the rows.

Rows of one group (the examples of one writer) exchange labels among themselves alone, so that properties of a
group count for nothing. Sources: Edgington and Onghena, Randomization Tests, 4th edition (2007), chapters 3
and 4; Mantel and Haenszel, Journal of the National Cancer Institute 22 (1959) 719-748 (counts in strata);
Westfall and Young, Resampling-Based Multiple Testing (1993), chapter 2 (the largest of many statistics);
Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010) (adding one).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def row_strata(groups: ArrayLike) -> Ints:
    """Return the stratum of each row, shape (n,), numbered from 0: its group.

    All groups of one row form one stratum.
    """
    _, codes, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    alone = sizes[codes] == 1
    _, stratum_codes = np.unique(np.where(alone, -1, codes), return_inverse=True)
    return stratum_codes.astype(np.int64)


def shuffle_within(labels: Ints, within: Ints, times: int, rng: np.random.Generator) -> Ints:
    """Return labels shuffled within strata, shape (times, n)."""
    rows = np.argsort(within, kind="stable")
    drawn = np.empty((times, len(labels)), np.int64)
    for row in drawn:
        row[rows] = labels[np.lexsort((rng.random(len(labels)), within))]
    return drawn


def shuffle_p_value(seen: float, drawn: ArrayLike) -> float:
    """Return the share of shuffles, including the data themselves, whose statistic is at least the observed one."""
    values = np.asarray(drawn, float)
    return float((1 + (values >= seen - 1e-12).sum()) / (1 + values.size))


def expected_counts(present: Floats, onehot: Floats, within: Ints) -> tuple[Floats, Floats]:
    """Return mean and variance of the counts present.T @ onehot over all shuffles within strata, (words, labels).

    `present`, shape (strata, words), counts the rows of each stratum that have a word, `onehot`, shape (n, labels),
    marks the label of each row. In each stratum counts are hypergeometric (Mantel and Haenszel).
    """
    sizes = np.bincount(within).astype(float)
    labels = np.stack([np.bincount(within, column, len(sizes)) for column in onehot.T], 1)
    mean = present.T @ (labels / sizes[:, None])
    scale = np.where(sizes > 1, sizes**2 * np.maximum(sizes - 1, 1), np.inf)[:, None]
    variance = (present * (sizes[:, None] - present)).T @ (labels * (sizes[:, None] - labels) / scale)
    return mean, variance
