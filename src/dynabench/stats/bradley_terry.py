"""Strengths of models from comparisons: who was preferred to whom, how often, and how often neither was.

Model i is preferred to j with probability p_i / (p_i + p_j + v sqrt(p_i p_j)), and the two tie with
v sqrt(p_i p_j) over the same sum; v = 0 is the model without ties. Sources: Bradley and Terry, Rank Analysis of
Incomplete Block Designs, Biometrika 39 (1952) 324-345; Davidson, On Extending the Bradley-Terry Model to Accommodate
Ties in Paired Comparison Experiments, Journal of the American Statistical Association 65 (1970) 317-328; Hunter, MM
Algorithms for Generalized Bradley-Terry Models, Annals of Statistics 32 (2004) 384-406 (minorisation-maximisation);
Efron and Tibshirani, An Introduction to the Bootstrap (1993), chapters 6 and 13 (percentile intervals).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynabench.stats import replicates
from dynabench.stats.ranks import RankInterval, rank_intervals

Floats = NDArray[np.float64]
STEPS = 20_000
PRECISE = 1e-10
"""Steps end once no logarithm of a strength, nor the weight of ties, moves by more."""


@dataclass(frozen=True)
class Fit:
    """Logarithms of strengths, shape (..., K), their mean 0; `tie` is v, shape (...)."""

    strengths: Floats
    tie: Floats

    def chances(self) -> Floats:
        """Probabilities that the first of a pair is preferred where there is no tie, shape (..., K, K)."""
        apart = self.strengths[..., :, None] - self.strengths[..., None, :]
        found: Floats = 1 / (1 + np.exp(-apart))
        return found


def fit(wins: ArrayLike, ties: ArrayLike | None = None, prior: float = 0.0, precise: float = PRECISE) -> Fit:
    """The likeliest strengths, by minorisation-maximisation.

    `wins`, shape (..., K, K), says how often the row's model was preferred to the column's; `ties`, of the same shape
    and symmetric, how often neither was. `prior` wins are added both ways between any two models. Without them there
    is no likeliest strength unless each model has won, over others if need be, against each (Hunter, assumption 1):
    raises ValueError then, for shapes that do not fit, and for numbers that are negative or not finite.
    """
    won, tied = _checked(wins, ties)
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
    return Fit(log, tie)


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


def _checked(wins: ArrayLike, ties: ArrayLike | None) -> tuple[Floats, Floats]:
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
    """Whether each model has won or tied against each, over others if need be, in every one of the tables."""
    from scipy.sparse.csgraph import connected_components  # a tenth of a second, without which web processes start

    edges = (won + tied > 0).reshape(-1, *won.shape[-2:])
    return all(
        connected_components(each, directed=True, connection="strong")[0] == 1 for each in np.unique(edges, axis=0)
    )


@dataclass(frozen=True)
class Comparison:
    """One judgement: `first` and `second` are numbers of models; `cluster` names whose judgements belong together.

    `won` is 1 where the first was preferred, 0 where the second was, 0.5 for a tie.
    """

    first: int
    second: int
    won: float
    cluster: int


@dataclass(frozen=True)
class Board:
    """Strengths with intervals and places; `wins` and `ties`, shape (K, K), are what they come from.

    With fewer than `FEWEST` clusters intervals are without ends, and each model may have any place.
    """

    strengths: Floats
    low: Floats
    high: Floats
    ranks: list[RankInterval]
    tie: float
    wins: Floats
    ties: Floats
    clusters: int


FEWEST = 6
"""Clusters below which samples of them bound nothing: one alone is the same in every sample, and few repeat each other,
so that intervals would be far too narrow."""
PRIOR = 0.5
"""Wins that a board adds both ways between any two models, as Jeffreys' prior of one comparison does: with few of them
a model that has won all would be infinitely strong."""


def board(models: int, comparisons: list[Comparison], digest: str, level: float = 0.95, times: int = 1000) -> Board:
    """Strengths of models, with percentile intervals and ranks from samples of whole clusters drawn with replacement.

    `digest` names the data: the same comparisons have the same intervals. Raises ValueError without any.
    """
    names = sorted({each.cluster for each in comparisons})
    place = {name: number for number, name in enumerate(names)}
    won = np.zeros((len(names), models, models))
    tied = np.zeros_like(won)
    for each in comparisons:
        at = place[each.cluster]
        if each.won == 0.5:
            tied[at, each.first, each.second] += 1
            tied[at, each.second, each.first] += 1
        elif each.won > 0.5:
            won[at, each.first, each.second] += 1
        else:
            won[at, each.second, each.first] += 1
    found = fit(won.sum(0), tied.sum(0), PRIOR)
    if len(names) < FEWEST:
        ends, anywhere = np.full(models, np.inf), [RankInterval(1, models, 1) for _ in range(models)]
        return Board(found.strengths, -ends, ends, anywhere, float(found.tie), won.sum(0), tied.sum(0), len(names))
    weights = np.stack(list(replicates.counts(digest, np.arange(len(names)), len(names), times))).astype(float)
    drawn = fit(np.tensordot(weights, won, 1), np.tensordot(weights, tied, 1), PRIOR, precise=1e-6).strengths
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=0)
    ranks = rank_intervals(found.strengths, drawn, level)
    return Board(found.strengths, low, high, ranks, float(found.tie), won.sum(0), tied.sum(0), len(names))
