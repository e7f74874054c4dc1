"""Strengths of models from pairwise preferences: wins of one model over another, and ties.

Model i is preferred to j with probability p_i / (p_i + p_j + v sqrt(p_i p_j)), and the two tie with v
sqrt(p_i p_j) over the same sum; v = 0 is the model without ties. Sources: Bradley and Terry, Rank Analysis of
Incomplete Block Designs, Biometrika 39 (1952) 324-345; Davidson, On Extending the Bradley-Terry Model to
Accommodate Ties in Paired Comparison Experiments, Journal of the American Statistical Association 65 (1970)
317-328; Hunter, MM Algorithms for Generalized Bradley-Terry Models, Annals of Statistics 32 (2004) 384-406
(minorisation-maximisation); Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13
(percentile intervals).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynabench.stats import bootstrap
from dynabench.stats.ranks import RankInterval, rank_intervals

Floats = NDArray[np.float64]
STEPS = 20_000
PRECISE = 1e-10
"""Steps end once no logarithm of a strength, nor the weight of ties, moves by more."""


@dataclass(frozen=True)
class StrengthFit:
    """Logarithms of strengths, shape (..., K), their mean 0; `tie` is v, shape (...)."""

    strengths: Floats
    tie: Floats

    def chances(self) -> Floats:
        """Return probabilities that the first of a pair is preferred where there is no tie, shape (..., K, K)."""
        apart = self.strengths[..., :, None] - self.strengths[..., None, :]
        probabilities: Floats = 1 / (1 + np.exp(-apart))
        return probabilities


def fit_strengths(
    wins: ArrayLike, ties: ArrayLike | None = None, prior: float = 0.0, precise: float = PRECISE
) -> StrengthFit:
    """Return the likeliest strengths, by minorisation-maximisation.

    `wins`, shape (..., K, K), counts how often the row's model was preferred to the column's; `ties`, of the same
    shape and symmetric, how often neither was. `prior` wins are added both ways between any two models. Without
    them there is no likeliest strength unless each model has won, over others if need be, against each (Hunter,
    assumption 1): raises ValueError then, for shapes that do not fit, and for numbers that are negative or not
    finite.
    """
    won, tied = _check_tables(wins, ties)
    size = won.shape[-1]
    off = ~np.eye(size, dtype=bool)
    won = np.where(off, won + prior, 0.0)
    if not _settled(won, tied):
        raise ValueError("some models were never preferred to others, so they have no likeliest strength; see `prior`")
    games = won + won.swapaxes(-1, -2) + tied
    scores = won.sum(-1) + tied.sum(-1) / 2
    draws = tied.sum((-1, -2)) / 2
    log, tie = np.zeros(won.shape[:-1]), np.where(draws > 0, 0.5, 0.0)
    for _ in range(STEPS):
        new, weight = _step(log, tie, games, scores, draws)
        moved = max(np.abs(new - log).max(initial=0), np.abs(weight - tie).max(initial=0))
        log, tie = new, weight
        if moved < precise:
            break
    return StrengthFit(log, tie)


def _step(log: Floats, tie: Floats, games: Floats, scores: Floats, draws: Floats) -> tuple[Floats, Floats]:
    """One round: all strengths at once, then the tie's weight, each at the top of its own lower bound.

    -log(x) lies above its tangent, and sqrt(p_i p_j) below (p_i r + p_j / r) / 2 with r = sqrt(p_j / p_i) as it is now.
    """
    strength = np.exp(log)
    root = np.exp(log / 2)
    both = root[..., :, None] * root[..., None, :]
    share = games / (strength[..., :, None] + strength[..., None, :] + tie[..., None, None] * both)
    ratio = root[..., None, :] / root[..., :, None]
    new = np.log(scores) - np.log((share * (1 + tie[..., None, None] * ratio / 2)).sum(-1))
    new -= new.mean(-1, keepdims=True)
    root = np.exp(new / 2)
    both = root[..., :, None] * root[..., None, :]
    total = root[..., :, None] ** 2 + root[..., None, :] ** 2 + tie[..., None, None] * both
    half = (games * both / total).sum((-1, -2)) / 2
    return new, np.divide(draws, half, out=np.zeros_like(draws), where=draws > 0)


def _check_tables(wins: ArrayLike, ties: ArrayLike | None) -> tuple[Floats, Floats]:
    won = np.asarray(wins, float)
    tied = np.zeros_like(won) if ties is None else np.asarray(ties, float)
    if won.ndim < 2 or won.shape[-1] != won.shape[-2] or won.shape[-1] < 2 or tied.shape != won.shape:
        raise ValueError(f"comparisons are counted in a matrix of models by models, not {won.shape} and {tied.shape}")
    if not (np.isfinite(won).all() and np.isfinite(tied).all()) or won.min() < 0 or tied.min() < 0:
        raise ValueError("comparisons are counted by numbers from 0")
    if not np.array_equal(tied, tied.swapaxes(-1, -2)):
        raise ValueError("a tie is one of both models: give a symmetric matrix")
    return won, np.where(np.eye(won.shape[-1], dtype=bool), 0.0, tied)


def _settled(won: Floats, tied: Floats) -> bool:
    """True where each model has won or tied against each, over others if need be, in every one of the tables."""
    from scipy.sparse.csgraph import connected_components  # a tenth of a second, without which web processes start

    edges = (won + tied > 0).reshape(-1, *won.shape[-2:])
    return all(
        connected_components(table, directed=True, connection="strong")[0] == 1 for table in np.unique(edges, axis=0)
    )


@dataclass(frozen=True)
class PairwiseJudgement:
    """One judgement between two models, given by their numbers; `cluster` groups judgements that belong together.

    `won` is 1 where the first was preferred, 0 where the second was, 0.5 for a tie.
    """

    first: int
    second: int
    won: float
    cluster: int


@dataclass(frozen=True)
class StrengthBoard:
    """Strengths with intervals and ranks; `wins` and `ties`, shape (K, K), are the counts behind them.

    With fewer than `MIN_CLUSTERS` clusters intervals are infinite, and each model may have any rank.
    """

    strengths: Floats
    low: Floats
    high: Floats
    ranks: list[RankInterval]
    tie: float
    wins: Floats
    ties: Floats
    clusters: int


MIN_CLUSTERS = 6
"""Clusters below which samples of them bound nothing: one alone is the same in every sample, and few repeat each other,
so that intervals would be far too narrow."""
PRIOR = 0.5
"""Wins that a board adds both ways between any two models, as Jeffreys' prior of one comparison does: with few of them
a model that has won all would be infinitely strong."""


def strength_board(
    models: int, comparisons: list[PairwiseJudgement], digest: str, level: float = 0.95, times: int = 1000
) -> StrengthBoard:
    """Return strengths of models, with percentile intervals and ranks from samples of whole clusters with replacement.

    `digest` names the data: the same judgements have the same intervals. Raises ValueError without any judgement.
    """
    names = sorted({judgement.cluster for judgement in comparisons})
    place = {name: number for number, name in enumerate(names)}
    won = np.zeros((len(names), models, models))
    tied = np.zeros_like(won)
    for judgement in comparisons:
        at = place[judgement.cluster]
        if judgement.won == 0.5:
            tied[at, judgement.first, judgement.second] += 1
            tied[at, judgement.second, judgement.first] += 1
        elif judgement.won > 0.5:
            won[at, judgement.first, judgement.second] += 1
        else:
            won[at, judgement.second, judgement.first] += 1
    fitted = fit_strengths(won.sum(0), tied.sum(0), PRIOR)
    if len(names) < MIN_CLUSTERS:
        ends, anywhere = np.full(models, np.inf), [RankInterval(1, models, 1) for _ in range(models)]
        return StrengthBoard(
            fitted.strengths, -ends, ends, anywhere, float(fitted.tie), won.sum(0), tied.sum(0), len(names)
        )
    weights = np.stack(list(bootstrap.kind_counts(digest, np.arange(len(names)), len(names), times))).astype(float)
    drawn = fit_strengths(np.tensordot(weights, won, 1), np.tensordot(weights, tied, 1), PRIOR, precise=1e-6).strengths
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    ranks = rank_intervals(fitted.strengths, drawn, level)
    return StrengthBoard(fitted.strengths, low, high, ranks, float(fitted.tie), won.sum(0), tied.sum(0), len(names))
