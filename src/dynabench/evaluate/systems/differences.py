"""The difference between two systems' scores: its interval, and how likely such a one is between equal systems.

Sources: Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 14 and 16; Riezler and Maxwell, ACL
Workshop on Evaluation Measures for MT (2005) 57-64 (the bootstrap distribution is moved to the null hypothesis);
Noreen, Computer-Intensive Methods for Testing Hypotheses (1989); Phipson and Smyth, Statistical Applications in
Genetics and Molecular Biology 9 (2010) 39 (a p value from samples is never 0).
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.resampling import is_slow
from dynabench.evaluate.states import Additive
from dynabench.evaluate.systems.paired import Statistic, jackknife, jackknife_of_groups, paired_resamples
from dynabench.evaluate.systems.swaps import find_swaps
from dynabench.stats import bootstrap

ROUNDING = 1e-10  # differences closer than this, relative to the scores, differ by rounding alone
MAX_EXACT = 1 << 16  # outcomes up to which all are looked at


@dataclass(frozen=True)
class StatePair:
    """The states of two systems over the same rows."""

    first: Any
    second: Any

    def __len__(self) -> int:
        return len(self.first)

    def __add__(self, other: Self) -> "StatePair":
        return StatePair(self.first + other.first, self.second + other.second)


@dataclass(frozen=True)
class ResamplingOptions:
    """Options of resampling: the level and method of the interval, the number of resamples and the seed."""

    level: float = 0.95
    resamples: int = 9999
    method: str = "bca"
    seed: int = 0


@dataclass(frozen=True)
class ScoreDifference:
    """First score minus second, with its bootstrap replicates, shape (B,)."""

    scores: tuple[float, float]
    replicates: Floats

    @property
    def value(self) -> float:
        """The difference; exactly 0 where the scores differ by rounding alone."""
        first, second = self.scores
        return 0.0 if abs(first - second) <= self.noise else first - second

    @property
    def noise(self) -> float:
        """The size by which rounding may move the difference."""
        return ROUNDING * max(map(abs, self.scores))

    def interval(self, drawing: ResamplingOptions, acceleration: float = 0.0) -> dict[str, Any]:
        """Return low, high and standard error with level and method, in the form of other modules."""
        span = bootstrap.interval(self.value, self.replicates, drawing.level, drawing.method, acceleration)
        limits = {"low": float(span.low), "high": float(span.high), "standard_error": float(span.error)}
        return {**limits, "level": drawing.level, "method": drawing.method}

    def p(self) -> float:
        """Return the two-sided p: the share of replicates as far from the difference as the difference is from 0."""
        off = np.abs(self.replicates[np.isfinite(self.replicates)] - self.value)
        return float((1 + np.count_nonzero(off >= abs(self.value) - self.noise)) / (1 + len(off)))


def resampled_difference(
    pair: StatePair, statistic: Statistic, scores: tuple[float, float], drawing: ResamplingOptions
) -> ScoreDifference:
    """Return the difference with its replicates. Raises ValueError for fewer than 2 rows or resamples."""
    if len(pair) < 2 or drawing.resamples < 2:
        raise ValueError("an interval needs at least two examples and two resamples")
    blocks = paired_resamples([pair.first, pair.second], np.random.default_rng(drawing.seed), drawing.resamples)
    return ScoreDifference(scores, np.concatenate([statistic(first) - statistic(other) for first, other in blocks]))


def difference_acceleration(pair: StatePair, statistic: Statistic, drawing: ResamplingOptions) -> float:
    """Return the acceleration of the difference, which BCa needs; 0 for other methods."""
    if drawing.method != "bca":
        return 0.0
    leave_out = jackknife_of_groups if is_slow(pair.first) or is_slow(pair.second) else jackknife
    return float(bootstrap.acceleration(leave_out(pair.first, statistic) - leave_out(pair.second, statistic)))


def randomization_test(pair: StatePair, statistic: Statistic, drawing: ResamplingOptions) -> tuple[float, bool]:
    """Return the p value of swapping rows between systems, and whether it is exact. Two-sided.

    It is the share of outcomes with a difference at least as large. All outcomes are counted where they are 65,536 at
    most (`resamples` at most, where the rows themselves are kept, whose scores take longer), else `resamples` of them
    are drawn.
    """
    both = find_swaps(pair.first, pair.second)

    def scores(numbers: Any) -> tuple[Floats, Floats]:
        first, second = both.totals(numbers)
        return statistic(first), statistic(second)

    first, second = scores(np.zeros((1, len(both.counts)), np.int64))
    least = abs(first[0] - second[0]) - ROUNDING * max(abs(first[0]), abs(second[0]))

    def as_far(numbers: Any) -> Any:
        first, other = scores(numbers)
        return ~(np.abs(first - other) < least)  # what is not defined counts against a finding

    if both.ways <= (MAX_EXACT if isinstance(both.pool, Additive) else drawing.resamples):
        return min(sum(float(chance[as_far(numbers)].sum()) for numbers, chance in both.all()), 1.0), True
    outcomes = both.drawn(np.random.default_rng(drawing.seed), drawing.resamples)
    extreme_count = sum(int(np.count_nonzero(as_far(numbers))) for numbers in outcomes)
    return (1 + extreme_count) / (1 + drawing.resamples), False
