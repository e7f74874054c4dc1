"""The choice of the candidates that become targets: three rules, each a pure function of scores and replicates.

A model is known by its score on the test part of each round, oldest first, and by which of the earlier
rounds' verified fooling examples (those in test parts, which nobody trains on) it answers right. Replicates
are common to all models, so that differences are paired. With m candidates an interval of a gain holds for
each at 1 - 0.05 / m, so that the luckiest of many is not taken for better (Bonferroni). On neutral data the
question is the other way round, whether a candidate is worse: there each interval stands for itself, at 90 %,
whose limits are one-sided ones at 95 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynabench.cycle.plan import PromotionRule
from dynabench.stats.averages import recency_weights
from dynabench.stats.rates import wilson

Floats = NDArray[np.float64]
LEVEL = 0.95
NEUTRAL_LEVEL = 0.9


@dataclass(frozen=True)
class NeutralScore:
    """A model's score on a neutral dataset, higher is better, with replicates (B,); None where that failed."""

    value: float | None
    drawn: Floats


@dataclass(frozen=True)
class ModelScores:
    """The scores of one model: `values` (R,) on the rounds, oldest first, higher is better; replicates `drawn` (R,
    B).

    `caught` (F,) is True for each fooling example that the model answers right, `caught_replicates` (B,) has the
    replicates of its mean. `neutral` has its scores on neutral datasets by name.
    """

    name: str
    values: Floats
    drawn: Floats
    caught: NDArray[np.bool_]
    redrawn: Floats
    neutral: Mapping[str, NeutralScore] = field(default_factory=dict)


@dataclass(frozen=True)
class IntervalFigure:
    """A number with its interval, from `n` rounds or examples; all None where there is nothing to count."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class CandidateRating:
    """A model by the rule: its `figure`, what it gains on the best present target, how its mean over rounds changes.

    `passes` says whether it may be promoted; `lacks` names what it lacks, `gain`, `sure`, `mean`, or on neutral data
    `neutral` (it is worse there), `unscored` or `present_unscored` (its evaluation failed, or that of the present
    target). `neutral` has how its score changes on each neutral dataset.
    """

    name: str
    figure: IntervalFigure
    gain: IntervalFigure
    mean: IntervalFigure
    passes: bool
    lacks: tuple[str, ...] = ()
    neutral: tuple[tuple[str, IntervalFigure], ...] = ()


@dataclass(frozen=True)
class PromotionDecision:
    """The names of the promoted candidates, best first; empty where the present targets stay.

    `present` names the best present target. `level` is that of the intervals of gains.
    """

    promoted: tuple[str, ...]
    present: str
    level: float
    figures: tuple[tuple[str, IntervalFigure], ...]
    candidates: tuple[CandidateRating, ...]


def decide_promotion(
    rule: PromotionRule, present: Sequence[ModelScores], candidates: Sequence[ModelScores]
) -> PromotionDecision:
    """Apply a rule. Raises ValueError without present targets, or without anything that they were scored on."""
    if not present or not len(present[0].values):
        raise ValueError("there is nothing to compare candidates with")
    best = max(present, key=lambda model: rule_statistic(rule, model)[0])  # of equal ones the first
    level = 1 - (1 - LEVEL) / max(len(candidates), 1)
    weighed = [_weighed(rule, model, best, level) for model in candidates]
    passing = [model for model in weighed if model.passes]
    passing.sort(key=lambda model: -(model.figure.value or 0.0))  # stable: of equal ones the first of the plan
    return PromotionDecision(
        promoted=tuple(model.name for model in passing[: rule.most]),
        present=best.name,
        level=level,
        figures=tuple((model.name, rule_figure(rule, model)) for model in present),
        candidates=tuple(weighed),
    )


def rule_statistic(rule: PromotionRule, model: ModelScores) -> tuple[float, Floats]:
    """Return the value that a rule compares, with its replicates (B,).

    `fooling`: the share of fooling examples that are caught; `recency`: the mean over rounds in which a round
    that is k rounds older counts (1 - discount)**k; `worst_round`: the least of the rounds. Where no example
    fooled a model, `fooling` is 0 for every model.
    """
    if rule.by == "fooling":
        return (float(model.caught.mean()), model.redrawn) if len(model.caught) else (0.0, np.zeros(1))
    if rule.by == "worst_round":
        return float(model.values.min()), model.drawn.min(0)
    return mean_over_rounds(model, rule.discount)


def mean_over_rounds(model: ModelScores, discount: float = 0.0) -> tuple[float, Floats]:
    """Return the mean over rounds and its replicates (B,); each older round counts less by the share `discount`."""
    weights = np.array(recency_weights([True] * len(model.values), discount))
    weights /= weights.sum()
    return float(weights @ model.values), weights @ model.drawn


def rule_figure(rule: PromotionRule, model: ModelScores) -> IntervalFigure:
    """Return a model's value by the rule at 95 %: Wilson's interval for shares of examples, else the replicates'."""
    if rule.by == "fooling":
        rate = wilson(int(model.caught.sum()), len(model.caught), LEVEL)
        return IntervalFigure(rate.value, rate.low, rate.high, rate.n)
    value, drawn = rule_statistic(rule, model)
    return IntervalFigure(value, *percentile_interval(drawn, LEVEL), len(model.values))


def percentile_interval(drawn: ArrayLike, level: float) -> tuple[float, float]:
    """Return the percentile interval of replicates (B,)."""
    low, high = np.quantile(np.asarray(drawn, float), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _weighed(rule: PromotionRule, candidate: ModelScores, best: ModelScores, level: float) -> CandidateRating:
    (value, drawn), (best_value, best_drawn) = rule_statistic(rule, candidate), rule_statistic(rule, best)
    (own_mean, own_mean_drawn), (best_mean, best_mean_drawn) = mean_over_rounds(candidate), mean_over_rounds(best)
    n = len(candidate.caught) if rule.by == "fooling" else len(candidate.values)
    gain = IntervalFigure(value - best_value, *percentile_interval(drawn - best_drawn, level), n)
    change = IntervalFigure(
        own_mean - best_mean, *percentile_interval(own_mean_drawn - best_mean_drawn, level), len(candidate.values)
    )
    lacks = []
    if value <= best_value:
        lacks.append("gain")
    elif rule.surely and not gain.low > 0:  # type: ignore[operator]
        lacks.append("sure")
    if own_mean - best_mean < -rule.most_lost:
        lacks.append("mean")
    changes = neutral_changes(candidate, best)
    lacks += _lacks_on_neutral(rule, candidate, best, dict(changes))
    return CandidateRating(
        candidate.name, rule_figure(rule, candidate), gain, change, not lacks, tuple(lacks), tuple(changes)
    )


def neutral_changes(candidate: ModelScores, best: ModelScores) -> list[tuple[str, IntervalFigure]]:
    """Return the change of score from `best` to the candidate on each neutral dataset that has both evaluations.

    The value is None where one of the evaluations failed.
    """
    changes = []
    for name, old in best.neutral.items():
        new = candidate.neutral.get(name)
        if new is None:
            continue
        if old.value is None or new.value is None:
            changes.append((name, IntervalFigure(None, None, None, 0)))
        else:
            moved = percentile_interval(new.drawn - old.drawn, NEUTRAL_LEVEL)
            changes.append((name, IntervalFigure(new.value - old.value, *moved, len(new.drawn))))
    return changes


def is_worse(rule: PromotionRule, change: IntervalFigure) -> bool:
    """Return True if a change on one neutral dataset keeps a candidate from being promoted."""
    if change.value is None or change.low is None or change.high is None:
        return False
    return change.high < 0 or (rule.neutral_sure and change.low < -rule.neutral_lost)


def _lacks_on_neutral(
    rule: PromotionRule, candidate: ModelScores, best: ModelScores, changes: Mapping[str, IntervalFigure]
) -> list[str]:
    lacks = []
    if any(candidate.neutral[name].value is None for name in changes):
        lacks.append("unscored")
    if any(best.neutral[name].value is None for name in changes):
        lacks.append("present_unscored")
    if lacks:
        return lacks
    values = [figure_on_dataset.value for figure_on_dataset in changes.values() if figure_on_dataset.value is not None]
    worse = any(is_worse(rule, figure_on_dataset) for figure_on_dataset in changes.values())
    return ["neutral"] if worse or (values and np.mean(values) < -rule.neutral_lost) else []
