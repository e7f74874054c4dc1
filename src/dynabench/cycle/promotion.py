"""Which candidates take the targets' place: three rules, each a pure function of scores and their replicates.

A model is known by its score on the test part of each round, oldest first, and by which of the earlier rounds'
verified fooling examples (those in test parts, which nobody trains on) it answers right. Replicates are common to all
models, so that differences are paired. With m candidates an interval of a gain holds for each at 1 - 0.05 / m, so that
the luckiest of many is not taken for better (Bonferroni). On neutral data the question is the other way round,
whether a candidate is worse: there each interval stands for itself, at 90 %, whose limits are one-sided ones at 95 %.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynabench.cycle.plan import Promote
from dynabench.stats.averages import recency_weights
from dynabench.stats.rates import wilson

Floats = NDArray[np.float64]
LEVEL = 0.95
NEUTRAL_LEVEL = 0.9


@dataclass(frozen=True)
class Neutral:
    """A model's score on a neutral dataset, higher is better, with replicates (B,); None where that failed."""

    value: float | None
    drawn: Floats


@dataclass(frozen=True)
class Scored:
    """One model: `values` (R,) on the rounds, oldest first, higher is better, with replicates `drawn` (R, B).

    `caught` (F,) says of each fooling example whether it is answered right, `redrawn` (B,) has the replicates of its
    mean. `neutral` are its scores on neutral datasets by name.
    """

    name: str
    values: Floats
    drawn: Floats
    caught: NDArray[np.bool_]
    redrawn: Floats
    neutral: Mapping[str, Neutral] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A number with its interval, from `n` rounds or examples; all None where there is nothing to count."""

    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Weighed:
    """A model by the rule: its `figure`, what it gains on the best present target, how its mean over rounds changes.

    `passes` says whether it may be promoted; `lacks` names what it lacks, `gain`, `sure`, `mean`, or on neutral data
    `neutral` (it is worse there), `unscored` or `present_unscored` (its evaluation failed, or that of the present
    target). `neutral` has how its score changes on each neutral dataset.
    """

    name: str
    figure: Figure
    gain: Figure
    mean: Figure
    passes: bool
    lacks: tuple[str, ...] = ()
    neutral: tuple[tuple[str, Figure], ...] = ()


@dataclass(frozen=True)
class Decision:
    """Who is promoted, best first, none where the present targets stay; `present` names the best of these.

    `level` is that of the intervals of gains.
    """

    promoted: tuple[str, ...]
    present: str
    level: float
    figures: tuple[tuple[str, Figure], ...]
    candidates: tuple[Weighed, ...]


def decide(rule: Promote, present: Sequence[Scored], candidates: Sequence[Scored]) -> Decision:
    """Apply a rule. Raises ValueError without present targets, or without anything that they were scored on."""
    if not present or not len(present[0].values):
        raise ValueError("there is nothing to compare candidates with")
    best = max(present, key=lambda each: statistic(rule, each)[0])  # of equal ones the first
    level = 1 - (1 - LEVEL) / max(len(candidates), 1)
    weighed = [_weighed(rule, each, best, level) for each in candidates]
    passing = [each for each in weighed if each.passes]
    passing.sort(key=lambda each: -(each.figure.value or 0.0))  # stable: of equal ones the first of the plan
    return Decision(
        promoted=tuple(each.name for each in passing[: rule.most]),
        present=best.name,
        level=level,
        figures=tuple((each.name, figure(rule, each)) for each in present),
        candidates=tuple(weighed),
    )


def statistic(rule: Promote, of: Scored) -> tuple[float, Floats]:
    """What a rule looks at, with its replicates (B,).

    `fooling`: the share of fooling examples that are caught; `recency`: the mean over rounds in which a round that is k
    rounds older counts (1 - discount)**k; `worst_round`: the least of the rounds. Where nobody was fooled `fooling` is
    0 for everybody.
    """
    if rule.by == "fooling":
        return (float(of.caught.mean()), of.redrawn) if len(of.caught) else (0.0, np.zeros(1))
    if rule.by == "worst_round":
        return float(of.values.min()), of.drawn.min(0)
    return mean(of, rule.discount)


def mean(of: Scored, discount: float = 0.0) -> tuple[float, Floats]:
    """The mean over rounds and its replicates; older rounds count less by the share `discount` each."""
    weights = np.array(recency_weights([True] * len(of.values), discount))
    weights /= weights.sum()
    return float(weights @ of.values), weights @ of.drawn


def figure(rule: Promote, of: Scored) -> Figure:
    """A model by the rule, at 95 %: Wilson's interval for shares of examples, else the replicates'."""
    if rule.by == "fooling":
        rate = wilson(int(of.caught.sum()), len(of.caught), LEVEL)
        return Figure(rate.value, rate.low, rate.high, rate.n)
    value, drawn = statistic(rule, of)
    return Figure(value, *limits(drawn, LEVEL), len(of.values))


def limits(drawn: ArrayLike, level: float) -> tuple[float, float]:
    """The percentile interval of replicates."""
    low, high = np.quantile(np.asarray(drawn, float), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _weighed(rule: Promote, candidate: Scored, best: Scored, level: float) -> Weighed:
    (mine, drawn), (theirs, other) = statistic(rule, candidate), statistic(rule, best)
    (here, here_drawn), (there, there_drawn) = mean(candidate), mean(best)
    n = len(candidate.caught) if rule.by == "fooling" else len(candidate.values)
    gain = Figure(mine - theirs, *limits(drawn - other, level), n)
    change = Figure(here - there, *limits(here_drawn - there_drawn, level), len(candidate.values))
    lacks = []
    if mine <= theirs:
        lacks.append("gain")
    elif rule.surely and not gain.low > 0:  # type: ignore[operator]
        lacks.append("sure")
    if here - there < -rule.most_lost:
        lacks.append("mean")
    changes = neutral_changes(candidate, best)
    lacks += _lacks_on_neutral(rule, candidate, best, dict(changes))
    return Weighed(candidate.name, figure(rule, candidate), gain, change, not lacks, tuple(lacks), tuple(changes))


def neutral_changes(candidate: Scored, best: Scored) -> list[tuple[str, Figure]]:
    """How the score changes from `best` to the candidate on each neutral dataset that both were evaluated on; a value
    of None where an evaluation failed."""
    found = []
    for name, old in best.neutral.items():
        new = candidate.neutral.get(name)
        if new is None:
            continue
        if old.value is None or new.value is None:
            found.append((name, Figure(None, None, None, 0)))
        else:
            moved = limits(new.drawn - old.drawn, NEUTRAL_LEVEL)
            found.append((name, Figure(new.value - old.value, *moved, len(new.drawn))))
    return found


def is_worse(rule: Promote, change: Figure) -> bool:
    """Whether a change on one neutral dataset keeps a candidate from being promoted."""
    if change.value is None or change.low is None or change.high is None:
        return False
    return change.high < 0 or (rule.neutral_sure and change.low < -rule.neutral_lost)


def _lacks_on_neutral(rule: Promote, candidate: Scored, best: Scored, changes: Mapping[str, Figure]) -> list[str]:
    lacks = []
    if any(candidate.neutral[name].value is None for name in changes):
        lacks.append("unscored")
    if any(best.neutral[name].value is None for name in changes):
        lacks.append("present_unscored")
    if lacks:
        return lacks
    values = [each.value for each in changes.values() if each.value is not None]
    worse = any(is_worse(rule, each) for each in changes.values())
    return ["neutral"] if worse or (values and np.mean(values) < -rule.neutral_lost) else []
