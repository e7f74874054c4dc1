"""P values: of shuffled labels and of random splits, and their corrections for many tests at once.

Shuffles: rows of one group (the examples of one writer) exchange labels among themselves alone, so that properties of a
group count for nothing. Sources: Edgington and Onghena, Randomization Tests, 4th edition (2007), chapters 3
and 4; Mantel and Haenszel, Journal of the National Cancer Institute 22 (1959) 719-748 (counts in strata);
Westfall and Young, Resampling-Based Multiple Testing (1993), chapter 2 (the largest of many statistics);
Phipson and Smyth, Statistical Applications in Genetics and Molecular Biology 9 (2010) (adding one).

Splits: Fisher, The Design of Experiments (1935), chapter 2: given all rows, the number of right ones in one
part is hypergeometric, whatever the model is like. Nothing is estimated, so the test is exact for parts of
any size.

Corrections: Holm, Scandinavian Journal of Statistics 6 (1979) 65-70; Benjamini and Hochberg, Journal of the Royal
Statistical Society B 57 (1995) 289-300; Dunn, JASA 56 (1961) 52-64 (Bonferroni's inequality for many comparisons).
"""

from collections.abc import Callable
from math import exp, lgamma

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


def random_split_p_value(right: int, rows: int, other_right: int, other_rows: int) -> float:
    """Return the probability that a random division puts at least `right` of all right rows among the first `rows`.

    One-sided, exact. Small where the first part is answered better than the second for another reason than the
    division. Raises ValueError for counts that are no counts of right rows.
    """
    if not (0 <= right <= rows and 0 <= other_right <= other_rows):
        raise ValueError(f"{right} of {rows} and {other_right} of {other_rows} are no counts of right rows")
    total, whole = right + other_right, rows + other_rows
    most = min(total, rows)
    every = _log_choose(whole, rows)
    chances = (exp(_log_choose(total, k) + _log_choose(whole - total, rows - k) - every) for k in range(right, most + 1)
               if rows - k <= whole - total)  # fmt: skip
    return min(sum(chances), 1.0)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def bonferroni(p: ArrayLike) -> Floats:
    """Return corrected p values, shape (m,), that keep the probability of any false finding below the level."""
    values = _checked(p)
    return np.minimum(values * len(values), 1.0)


def holm(p: ArrayLike) -> Floats:
    """Return corrected p values, shape (m,), with the guarantee of Bonferroni's correction and never larger."""
    values = _checked(p)
    order = np.argsort(values, kind="stable")
    steps = values[order] * np.arange(len(values), 0, -1)
    return _in_first_order(np.maximum.accumulate(steps), order)


def benjamini_hochberg(p: ArrayLike) -> Floats:
    """Return corrected p values, shape (m,), that keep the expected share of false findings below the level.

    Holds for independent tests and for those that depend positively on each other.
    """
    values = _checked(p)
    order = np.argsort(values, kind="stable")[::-1]
    steps = values[order] * (len(values) / np.arange(len(values), 0, -1))
    return _in_first_order(np.minimum.accumulate(steps), order)


def uncorrected(p: ArrayLike) -> Floats:
    """Return the p values unchanged."""
    return _checked(p)


CORRECTIONS: dict[str, Callable[[ArrayLike], Floats]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
    "bonferroni": bonferroni,
    "none": uncorrected,
}


def correct_p_values(p: ArrayLike, correction: str = "holm") -> Floats:
    """Return the p values, shape (m,), after the correction of this name.

    Raises ValueError for an unknown name or p.
    """
    if correction not in CORRECTIONS:
        raise ValueError(f"no correction {correction!r}; there are {', '.join(CORRECTIONS)}")
    return CORRECTIONS[correction](p)


def _checked(p: ArrayLike) -> Floats:
    values = np.array(p, float, ndmin=1)
    if values.ndim != 1 or not np.all((values >= 0) & (values <= 1)):
        raise ValueError("give a list of p values between 0 and 1")
    return values


def _in_first_order(steps: Floats, order: NDArray[np.intp]) -> Floats:
    """Sorted values in their first order, at most 1."""
    restored = np.empty_like(steps)
    restored[order] = np.minimum(steps, 1.0)
    return restored
