"""Comparisons of two systems on the same rows."""

from dataclasses import dataclass
from math import erfc, sqrt
from typing import Any, Literal

import numpy as np

from dynabench.evaluate.columns import Floats, Labels, Numbers
from dynabench.evaluate.labels import Ints, same
from dynabench.evaluate.module import Comparison
from dynabench.evaluate.score_differences import (
    FunctionScore,
    ModuleScore,
    ResamplingOptions,
    ScoreDifference,
    ScoreTest,
    SignificanceTest,
    StatePair,
    randomization_test,
)
from dynabench.evaluate.states import Rows, Sums
from dynabench.evaluate.values import ratio, to_plain


class ExactMatchComparison(Comparison, name="exact_match"):
    """Share of examples for which two systems give the same prediction."""

    columns = {"predictions1": Labels(), "predictions2": Labels()}

    def update(self, predictions1: Ints | list[str], predictions2: Ints | list[str]) -> Sums:
        """Return for each row whether the two predictions are equal."""
        return Sums(same(predictions1, predictions2))

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Return equal rows / rows."""
        return {"exact_match": ratio(total[..., 0], total[..., 1])}


class McNemar(SignificanceTest, name="mcnemar"):
    """Test of whether two systems are right equally often."""

    columns = {"predictions1": Labels(), "predictions2": Labels(), "references": Labels()}

    def update(
        self, predictions1: Ints | list[str], predictions2: Ints | list[str], references: Ints | list[str]
    ) -> Sums:
        """Return for each row whether only the first system is right, and whether only the second is."""
        first, second = same(predictions1, references), same(predictions2, references)
        return Sums(np.stack([first & ~second, second & ~first], 1))

    def result(self, state: Sums, *, exact: bool = False, correction: bool = False, **options: Any) -> dict[str, Any]:
        """Return statistic and p value."""
        from scipy.special import bdtr, chdtrc

        first, second = (int(count) for count in state.total()[:2])
        differ, fewer = first + second, min(first, second)
        if exact:
            return {"stat": float(fewer), "p": min(2 * float(bdtr(fewer, differ, 0.5)), 1.0)}
        excess = max(abs(first - second) - bool(correction), 0)
        stat = excess**2 / differ if differ else 0.0
        result: dict[str, Any] = to_plain({"stat": float(stat), "p": float(chdtrc(1, stat))})
        return result


Zeros = Literal["wilcox", "pratt", "zsplit"]
ZEROS = ("wilcox", "pratt", "zsplit")
SMALL, SMALL_WITH_TIES = 50, 13  # up to which scipy's test is exact
LARGEST = 500  # beyond it the exact distribution takes seconds, and the normal one is as good


class Wilcoxon(SignificanceTest, name="wilcoxon"):
    """Test of whether one system's numbers tend to be larger than another's."""

    columns = {"predictions1": Numbers(), "predictions2": Numbers()}

    def update(self, predictions1: Floats, predictions2: Floats) -> Rows:
        """Return the differences of the rows."""
        return Rows((predictions1 - predictions2,))

    def result(
        self,
        state: Rows,
        *,
        zero_method: Zeros = "wilcox",
        exact: bool | None = None,
        correction: bool = False,
        **options: Any,
    ) -> dict[str, Any]:
        """Return statistic and p. Raises ValueError for another `zero_method`, or an exact test of more than 500."""
        if zero_method not in ZEROS:
            raise ValueError(f"no zero_method {zero_method!r}; there are {', '.join(ZEROS)}")
        signed = _signed(state.columns[0], zero_method)
        if not len(signed.ranks):
            return {"stat": 0.0, "p": 1.0}
        if exact and len(signed.ranks) > LARGEST:
            raise ValueError(
                f"the exact test is for up to {LARGEST} differences, not {len(signed.ranks)}; leave it out"
            )
        if exact is None:
            no_ties = signed.zeros == 0 and len(np.unique(signed.ranks)) == len(signed.ranks)
            exact = len(state) <= (SMALL if no_ties else SMALL_WITH_TIES)
        return {"stat": signed.stat, "p": _exact_p(signed) if exact else _normal_p(signed, correction)}


@dataclass(frozen=True)
class _Signed:
    """Ranks of the differences that are not 0, with their signs; how many are 0, and the ranks of these if split."""

    ranks: Floats
    positive: Any
    zeros: int
    split: Floats

    @property
    def up(self) -> float:
        """The sum of positive ranks alone."""
        return float(self.ranks[self.positive].sum())

    @property
    def stat(self) -> float:
        """The smaller sum, with its half of what zeros have."""
        return min(self.up, float(self.ranks.sum()) - self.up) + float(self.split.sum()) / 2


def _signed(differences: Floats, zero_method: Zeros) -> _Signed:
    zero = differences == 0
    if zero_method == "wilcox":
        ranks = _ranks(np.abs(differences[~zero]))
        return _Signed(ranks, differences[~zero] > 0, int(zero.sum()), np.zeros(0))
    ranks = _ranks(np.abs(differences))
    split = ranks[zero] if zero_method == "zsplit" else np.zeros(0)
    return _Signed(ranks[~zero], differences[~zero] > 0, int(zero.sum()), split)


def _ranks(sizes: Floats) -> Floats:
    """Ranks from 1; equal sizes share their mean rank."""
    _, kind, counts = np.unique(sizes, return_inverse=True, return_counts=True)
    means: Floats = np.cumsum(counts) - (counts - 1) / 2
    return means[kind.ravel()]


def _exact_p(signed: _Signed) -> float:
    """From the positive sums that all 2^n signs give; ranks may be halves, doubled they are whole numbers."""
    double: Ints = np.rint(2 * signed.ranks).astype(np.int64)
    chances = np.zeros(int(double.sum()) + 1)
    chances[0] = 1
    for rank in double:
        chances[rank:] = (chances[rank:] + chances[: len(chances) - rank]) / 2
        chances[:rank] /= 2
    up = round(2 * signed.up)
    return float(min(2 * min(chances[: up + 1].sum(), chances[up:].sum()), 1.0))


def _normal_p(signed: _Signed, correction: bool) -> float:
    """From the mean and variance of the sum of ranks with random signs, which holds for ties and zeros as well."""
    spread = sqrt(float((signed.ranks**2).sum() + (signed.split**2).sum()) / 4)
    off = abs(signed.up - float(signed.ranks.sum()) / 2)
    return erfc(max(off - 0.5 * bool(correction), 0.0) / spread / sqrt(2))


class ApproximateRandomization(ScoreTest, name="approximate_randomization"):
    """Test of whether two systems differ by any metric, by swapping their predictions at random."""

    def test(
        self,
        pair: StatePair,
        measure: ModuleScore | FunctionScore,
        observed: ScoreDifference,
        drawing: ResamplingOptions,
    ) -> dict[str, Any]:
        """Return p, and whether it is exact."""
        p, exact = randomization_test(pair, measure.statistic, drawing)
        return {"p": p, "exact": exact}


class PairedBootstrap(ScoreTest, name="paired_bootstrap"):
    """Test of how much better one system is than another by any metric, when examples are resampled."""

    def test(
        self,
        pair: StatePair,
        measure: ModuleScore | FunctionScore,
        observed: ScoreDifference,
        drawing: ResamplingOptions,
    ) -> dict[str, Any]:
        """Return p from the same replicates as the interval."""
        return {"p": observed.p()}
