"""Normalised pointwise mutual information (nPMI) of terms and words, and its difference between two terms.

nPMI of a term and a word is ln(p(t, w) / (p(t) p(w))) / -ln p(t, w), where p is the share of rows that have them: -1
where they never meet, 0 where they are independent, 1 where each row that has one has the other. Source: Bouma,
Normalized (pointwise) mutual information in collocation extraction, GSCL 2009; Aka and others, Measuring model biases
in the absence of ground truth, AIES 2021 (differences between identity terms).

Intervals: rows are drawn again with replacement. A word's figures depend only on how many rows have each combination
of first term, second term and word, so the eight counts are drawn from their multinomial distribution. That is the
bootstrap of the rows themselves, at any number of rows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynabench.stats.p_values import holm

Floats = NDArray[np.float64]
DRAWS = 1_000


@dataclass(frozen=True)
class TermPair:
    """Counts of rows of two terms and W words: `rows` in all, `first`, `second` and `both` rows with the terms, and
    of each word, shape (W,), its rows, and those that it shares with the first, the second and both terms.
    """

    rows: int
    first: int
    second: int
    both: int
    word: Floats
    with_first: Floats
    with_second: Floats
    with_both: Floats

    def cells(self) -> Floats:
        """Return the rows of each combination, shape (W, 8): with the word both, first, second, none; and without."""
        has = self.with_both, self.with_first - self.with_both, self.with_second - self.with_both
        present = np.stack([*has, self.word - sum(has)], -1)
        whole = np.array([self.both, self.first - self.both, self.second - self.both,
                          self.rows - self.first - self.second + self.both], float)  # fmt: skip
        result: Floats = np.maximum(np.concatenate([present, whole - present], -1), 0)
        return result


@dataclass(frozen=True)
class AssociationGaps:
    """nPMI of each word with both terms and their difference, first minus second, with interval and Holm's p; (W,)."""

    first: Floats
    second: Floats
    gap: Floats
    low: Floats
    high: Floats
    p: Floats


def npmi(together: ArrayLike, first: ArrayLike, second: ArrayLike, rows: ArrayLike) -> Floats:
    """Return nPMI from counts of rows, broadcast: -1 where nothing is together, NaN where every row has both."""
    both, rows_first, rows_second, total = (np.asarray(values, float) for values in (together, first, second, rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        joint = np.log(both / total)
        values = (joint - np.log(rows_first / total) - np.log(rows_second / total)) / -joint
    result: Floats = np.where(both == 0, -1.0, values)
    return result


def compare_terms(pair: TermPair, rng: np.random.Generator, draws: int = DRAWS, level: float = 0.95) -> AssociationGaps:
    """Return the association of each word with both terms, and whether it differs between them.

    The interval is the bootstrap's. p is that of Fisher's exact test, two-sided by doubling, that the word is in the
    same share of the rows that have only the first term and of those that have only the second; corrected for all
    words. Words should share a row with both terms: the bootstrap of a count of 0 has no spread.
    """
    cells = pair.cells()
    first, second = _of_cells(cells)
    if not len(cells):
        nothing = np.zeros(0)
        return AssociationGaps(*(nothing,) * 6)
    drawn = np.empty((draws, len(cells)))
    shares = cells / cells.sum(-1, keepdims=True)
    for at in range(draws):
        first_drawn, second_drawn = _of_cells(rng.multinomial(pair.rows, shares).astype(float))
        drawn[at] = first_drawn - second_drawn
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return AssociationGaps(first, second, first - second, low, high, holm(_exact_p(cells)))


def _exact_p(cells: Floats) -> Floats:
    from scipy.stats import hypergeom

    k, other = cells[:, 1], cells[:, 2]
    n, rest = k + cells[:, 5], other + cells[:, 6]
    law = hypergeom(n + rest, k + other, n)
    smaller: Floats = np.minimum(law.cdf(k), law.sf(k - 1))
    return np.minimum(2 * smaller, 1.0)


def _of_cells(cells: Floats) -> tuple[Floats, Floats]:
    total, word = cells.sum(-1), cells[..., :4].sum(-1)
    first, second = cells[..., [0, 1, 4, 5]].sum(-1), cells[..., [0, 2, 4, 6]].sum(-1)
    return (npmi(cells[..., [0, 1]].sum(-1), first, word, total), npmi(cells[..., [0, 2]].sum(-1), second, word, total))
