"""Intervals of ranks: the places of a board that a model may truly have, given the uncertainty of differences.

Sources: Mogstad, Romano, Shaikh and Wilhelm, Inference for Ranks with Applications to Mobility across
Neighbourhoods and Academic Achievement across Countries, Review of Economic Studies 91 (2024) 476-518 (ranks
from simultaneous intervals of all differences, with stepping down); Romano and Wolf, Econometrica 73 (2005)
1237-1282 (the stepwise test); Efron and Tibshirani, An Introduction to the Bootstrap (1993), section 12.5
(studentised differences).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Bools = NDArray[np.bool_]
ROUNDING = 1e-6  # of the replicates' size: a difference that varies less does not vary but for rounding


@dataclass(frozen=True, slots=True)
class RankInterval:
    """Places `low` to `high` of a model and its tie group; all None where it has no rank, for this `reason`."""

    low: int | None
    high: int | None
    group: int | None
    reason: str = ""

    def __str__(self) -> str:
        if self.low is None:
            return ""
        return f"{self.low}" if self.low == self.high else f"{self.low}-{self.high}"


def weighted_replicates(replicates: NDArray[np.floating], coefficients: ArrayLike) -> Floats:
    """Return replicates of a weighted score, shape (B, M), from M models' metrics on data sets, shape (B, M, K, D).

    `coefficients`, shape (K, D), are the points for a unit of each metric on each data set: the exchange rate of
    the metric (`dynascore.exchange_rates`) times the data set's share (`averages.dataset_shares`). They stay
    those of the board as it is in every replicate: the intervals are about the models' scores at these rates, not
    about the rates. Metrics without replicates (costs) are left out or get 0. Where a coefficient is 0,
    replicates may be anything. Quickest where B is the last axis in memory, that is for a view of an array (K, D,
    M, B), as stored replicates are.
    """
    weights = np.asarray(coefficients, float)
    if replicates.ndim != 4 or weights.shape != replicates.shape[2:]:
        raise ValueError(f"replicates {replicates.shape} need a coefficient for each metric and data set")
    planes = replicates.transpose(2, 3, 1, 0)
    total = np.zeros(planes.shape[2:])
    for place in np.argwhere(weights):  # one after the other: equal models get equal numbers, to the last bit
        total += np.multiply(planes[tuple(place)], weights[tuple(place)], dtype=float)
    return total.T


def rank_intervals(values: ArrayLike, replicates: ArrayLike, level: float = 0.95) -> list[RankInterval]:
    """Return for each of M models the places that it may have, all of them right at once with probability `level`.

    `values`, shape (M,), more is better; `replicates`, shape (B, M), paired: row b has all models on one sample.
    Place `low` is 1 + the number of models that are significantly better, `high` is M - the number that are
    significantly worse. A pair differs significantly where the difference over its standard error exceeds the
    quantile, over samples, of the largest such quotient of all pairs that are not separated yet (steps are
    repeated until none is added). True ties are covered in full: an interval has every place that a model may
    claim among its equals.

    A difference that does not vary separates two models unless it is 0; copies always tie and get one interval. A
    tie `group` holds the models that are not significantly worse than its best one. Samples that more than half
    of the models lack are left out. Models without a finite value, or undefined in another sample, have no rank
    and count nowhere. Raises ValueError for shapes that do not fit and a level outside (0, 1).
    """
    value, drawn = np.asarray(values, float), np.asarray(replicates)
    if value.ndim != 1 or drawn.ndim != 2 or drawn.shape[1] != len(value):
        raise ValueError(f"ranks of {value.shape} values need replicates of shape (B, M), not {drawn.shape}")
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval lies between 0 and 1, not at {level}")
    by_model, reasons = _complete(value, np.ascontiguousarray(drawn.T))
    ranked = [place for place in range(len(value)) if place not in reasons]
    intervals = [RankInterval(None, None, None, reasons.get(place, "")) for place in range(len(value))]
    if not ranked:
        return intervals
    first, copy = _distinct(value[ranked], by_model[ranked])
    better = _better(value[ranked][first], by_model[ranked][first], level)[np.ix_(copy, copy)]
    groups = _groups(np.lexsort((np.array(copy), -value[ranked])), better)
    low, high = 1 + better.sum(0), len(ranked) - better.sum(1)
    for number, place in enumerate(ranked):
        intervals[place] = RankInterval(int(low[number]), int(high[number]), groups[number])
    return intervals


def _complete(value: Floats, by_model: NDArray[np.floating]) -> tuple[NDArray[np.floating], dict[int, str]]:
    """The samples that are used, and why models are not."""
    finite = np.isfinite(by_model)
    has_score = np.isfinite(value)
    reasons = {int(place): "no score" for place in np.flatnonzero(~has_score)}
    if finite.all():
        return by_model, reasons
    used = finite[has_score].sum(0) * 2 >= has_score.sum()
    for place in np.flatnonzero(has_score & ~finite[:, used].all(1)):
        missing = int((~finite[place, used]).sum())
        reasons[int(place)] = f"its score is not defined in {missing:,} of {int(used.sum()):,} samples"
    return by_model[:, used], reasons


def _distinct(value: Floats, by_model: NDArray[np.floating]) -> tuple[list[int], list[int]]:
    """The first of each set of equal models, and for each model the number of its set."""
    sets: dict[tuple[float, bytes], int] = {}
    first: list[int] = []
    copy = []
    for place, (score, row) in enumerate(zip(value.tolist(), by_model, strict=True)):
        number = sets.setdefault((score, row.tobytes()), len(sets))
        if number == len(first):
            first.append(place)
        copy.append(number)
    return first, copy


def _better(value: Floats, by_model: NDArray[np.floating], level: float) -> Bools:
    """True where the first model of a pair is significantly better than the second, shape (M, M)."""
    order = np.argsort(-value, kind="stable")
    value, by_model = value[order], by_model[order].astype(float)
    size = np.abs(by_model).max(1, initial=0)
    off: Floats = by_model - by_model.mean(1, keepdims=True) if by_model.shape[1] else by_model.astype(float)
    error = _errors(off)
    still = error <= ROUNDING * np.maximum(size[:, None], size)
    apart = np.triu(value[:, None] - value, 1)
    with np.errstate(divide="ignore"):
        inverse = np.where(still, 0.0, 1 / error)
    separated = still & (apart > ROUNDING**2 * np.abs(value).max(initial=0))
    sure = 1 + 1 / sqrt(2 * max(by_model.shape[1] - 1, 1))  # how far the error of B samples is uncertain itself
    separated |= _separated_pairs(apart * inverse / sure, off.astype(np.float32), inverse.astype(np.float32), level)
    ordered = np.zeros(separated.shape, bool)
    ordered[np.ix_(order, order)] = separated
    return ordered


def _errors(off: Floats) -> Floats:
    """Standard errors of all differences, shape (M, M), from centred replicates (M, B); 0 where there are too few."""
    if off.shape[1] < 2:
        return np.zeros((len(off), len(off)))
    products = off @ off.T / (off.shape[1] - 1)
    own = np.diag(products)
    result: Floats = np.sqrt(np.maximum(own[:, None] + own - 2 * products, 0))
    return result


def _separated_pairs(ratio: Floats, off: Singles, inverse: Singles, level: float) -> Bools:
    """Pairs (better, worse) that the stepwise test tells apart; models are in the order of their values.

    Of each pair two claims are tested: that the first is not better, which may be rejected, and that the second is not,
    which cannot be and so stays in every step.
    """
    open_pairs = np.triu(inverse > 0, 1)
    separated = np.zeros(ratio.shape, bool)
    if not open_pairs.any():
        return separated
    pick = ceil(level * (off.shape[1] + 1)) - 1
    if pick >= off.shape[1]:
        return separated  # too few samples for this level
    highest, opposite = np.zeros((2, off.shape[1]), np.float32)
    for block in _quotients(off, inverse, open_pairs):
        np.maximum(highest, block.max(0), out=highest)
        np.minimum(opposite, block.min(0), out=opposite)
    while True:
        limit = np.partition(np.maximum(highest, -opposite), pick)[pick]
        new = open_pairs & (ratio > limit)
        if not new.any():
            return separated
        separated |= new
        open_pairs &= ~new
        highest = np.zeros_like(highest)
        for block in _quotients(off, inverse, open_pairs):
            np.maximum(highest, block.max(0), out=highest)


def _quotients(off: Singles, inverse: Singles, pairs: Bools) -> Iterator[Singles]:
    """Differences over their standard errors in each sample: for each model those to the worse ones, shape (k, B)."""
    for model, row in enumerate(pairs):
        others = np.flatnonzero(row)
        if len(others):
            block = off[model] - off[others]
            block *= inverse[model, others, None]
            yield block


def _groups(order: NDArray[np.intp], better: Bools) -> list[int]:
    """The tie group of each model: from the best model on, all that are not significantly worse than a group's best.

    `order` has the models from the best on, copies side by side.
    """
    group_of = [0] * len(order)
    number, best = 0, -1
    for place in order.tolist():
        if best < 0 or better[best, place]:
            number, best = number + 1, place
        group_of[place] = number
    return group_of
