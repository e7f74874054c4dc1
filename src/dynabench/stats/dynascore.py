"""Dynascore: several metrics of a model as one number, in the exact form of Dynaboard and in a guarded one.

Source of the exact form: Ma et al., Dynaboard: An Evaluation-As-A-Service Platform for Holistic Next-
Generation Benchmarking, NeurIPS 2021, section 4 (the average marginal rate of substitution, AMRS).
`docs/explanation/boards.md` describes the properties of each form.
"""

from collections.abc import Mapping
from itertools import pairwise
from math import fsum, isfinite

PRIMARY_WEIGHT = 4.0
OTHER_WEIGHT = 1.0
THRESHOLD = 1e-4  # of the largest primary: closer neighbours have no exchange rate
NOISE = 1e-12  # of the largest value: differences below it are rounding
TINY = 1e-200  # differences and rates below it are none, so that no quotient overflows
LARGEST = 1e100  # values from here on are none
FLOOR = 0.01  # of the largest value: metrics that vary less do not swing the guarded form

Scores = Mapping[str, Mapping[str, float]]
Numbers = Mapping[str, float]


def dynascore(
    scores: Scores,
    primary: str,
    weights: Numbers | None = None,
    directions: Mapping[str, int] | None = None,
    offsets: Numbers | None = None,
) -> dict[str, float]:
    """Return the Dynascore of each model, in units of the primary metric.

    `scores` holds {model: {metric: value}}, averaged over data sets (`average_over_datasets`). `weights` are
    normalised to 1; metrics that they do not name weigh nothing; without them the primary weighs 4, each other
    metric 1. `directions` has -1 for metrics of which less is better; `offsets` are added to metric * direction
    (memory: the machine's GiB).

    The score is the sum of weight * (direction * value + offset) / AMRS, where the AMRS of a metric is the mean
    of |its difference| / |difference in the primary| between neighbours by the primary, of those that differ in
    it by more than 1e-4 of its largest value.

    A metric without an exchange rate (one model, all primaries tied, a constant metric) adds nothing. Models that
    tie in the primary are neighbours in the order of their other metrics. Models that cannot be ranked (see
    `unranked_reasons`) are left out. Raises ValueError for unknown metrics, directions other than 1 and -1,
    offsets that are not finite, and weights that are negative, not finite or all 0.
    """
    share = weight_shares(scores, primary, weights)
    offset = _check_numbers(offsets, scores, "offsets")
    factor = exchange_rates(scores, primary, weights, directions)
    sign, out = _signs(directions, scores), unranked_reasons(scores, primary, weights)
    fixed = fsum(factor[metric] * sign.get(metric, 1) * offset.get(metric, 0.0) for metric in share)
    return {
        model: fsum([fixed, *(factor[metric] * scores[model][metric] for metric in share)])
        for model in scores
        if model not in out
    }


def guarded_dynascore(
    scores: Scores,
    primary: str,
    weights: Numbers | None = None,
    directions: Mapping[str, int] | None = None,
    scales: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, float]:
    """A score that is finite and monotone in every case: positions between the worst and the best value, weighted.

    `scales` may declare (worst, best) of a metric; else they are those on the board, at least 1 % of the metric's
    largest value apart. The score is 100 * the sum of weight * (value - worst) / (best - worst): 0 for the worst in
    everything, 100 for the best. Where a model improves in a metric and all else stays, its score does not fall and its
    lead over no other model shrinks, although the scale is computed anew; a model that is better in everything scores
    higher. Other arguments, models left out and errors as for `dynascore`; a declared scale also needs two different
    finite ends, the worst first.
    """
    factor = guarded_exchange_rates(scores, primary, weights, directions, scales)
    out = unranked_reasons(scores, primary, weights)
    ranked = [model for model in scores if model not in out]
    sign = _signs(directions, scores)
    zero = {
        metric: (scales or {})[metric][0]
        if metric in (scales or {})
        else sign.get(metric, 1) * min((sign.get(metric, 1) * scores[model][metric] for model in ranked), default=0.0)
        for metric in factor
    }
    return {
        model: fsum(factor[metric] * (scores[model][metric] - zero[metric]) for metric in factor) for model in ranked
    }


def exchange_rates(
    scores: Scores, primary: str, weights: Numbers | None = None, directions: Mapping[str, int] | None = None
) -> dict[str, float]:
    """Return for each weighted metric the points of Dynascore for one unit of it, negative where less is better.

    weight * direction / AMRS, and 0 where there is no exchange rate. Errors as for `dynascore`.
    """
    share, sign = weight_shares(scores, primary, weights), _signs(directions, scores)
    out = unranked_reasons(scores, primary, weights)
    others = sorted(set(share) - {primary})
    rows = sorted([scores[model][metric] for metric in (primary, *others)] for model in scores if model not in out)
    rates = dict.fromkeys(share, 0.0)
    for place, metric in enumerate((primary, *others)):
        if metric in share and (rate := _substitution(rows, place) if place else 1.0) > TINY:
            rates[metric] = share[metric] * sign.get(metric, 1) / rate
    return rates


def guarded_exchange_rates(
    scores: Scores,
    primary: str,
    weights: Numbers | None = None,
    directions: Mapping[str, int] | None = None,
    scales: Mapping[str, tuple[float, float]] | None = None,
) -> dict[str, float]:
    """Return for each weighted metric the points of the guarded score for one unit of it.

    0 where all models are equal.

    Errors as for `guarded_dynascore`.
    """
    share, sign = weight_shares(scores, primary, weights), _signs(directions, scores)
    declared = _scales(scales, scores, sign)
    out = unranked_reasons(scores, primary, weights)
    rates = {}
    for metric, weight in share.items():
        values = [scores[model][metric] for model in scores if model not in out]
        span = declared.get(metric) or _span(values)
        rates[metric] = 100 * weight * sign.get(metric, 1) / span if span > TINY else 0.0
    return rates


def unranked_reasons(scores: Scores, primary: str, weights: Numbers | None = None) -> dict[str, str]:
    """Return the reasons of models without a score: a weighted metric, or the primary, is missing or not finite."""
    needed = [primary, *(metric for metric in weight_shares(scores, primary, weights) if metric != primary)]
    reason_of = {}
    for model, its in scores.items():
        missing = [metric for metric in needed if its.get(metric) is None]
        strange = [metric for metric in needed if metric not in missing and not abs(its[metric]) < LARGEST]
        if missing or strange:
            reasons = [f"no {metric}" for metric in missing] + [
                f"{metric} is not a finite number" for metric in strange
            ]
            reason_of[model] = "; ".join(reasons)
    return reason_of


def weight_shares(scores: Scores, primary: str, weights: Numbers | None = None) -> dict[str, float]:
    """Return weights above 0 by metric, normalised to 1. Errors as for `dynascore`."""
    metrics = {metric for its in scores.values() for metric in its}
    if scores and primary not in metrics:
        raise ValueError(
            f"no model has the primary metric {primary!r}; there are {', '.join(sorted(metrics)) or 'none'}"
        )
    if weights is None:
        weights = {metric: PRIMARY_WEIGHT if metric == primary else OTHER_WEIGHT for metric in sorted(metrics)}
    checked_weights = _check_numbers(weights, scores, "weights")
    if any(weight < 0 for weight in checked_weights.values()):
        raise ValueError("weights are 0 or more")
    total = fsum(checked_weights.values())
    if scores and not total:
        raise ValueError("at least one metric needs a weight above 0")
    return {metric: weight / total for metric, weight in checked_weights.items() if weight}


def _substitution(rows: list[list[float]], place: int) -> float:
    """The AMRS of the metric at this place of rows, whose first place is the primary; 0 if there is none."""
    least = THRESHOLD * max((abs(row[0]) for row in rows), default=0.0)
    noise = NOISE * max((abs(row[place]) for row in rows), default=0.0)
    rates = []
    for first, other in pairwise(rows):
        apart, step = other[0] - first[0], abs(other[place] - first[place])
        if apart > least:
            rates.append(step / apart if step > noise else 0.0)
    return fsum(rates) / len(rates) if rates else 0.0


def _span(values: list[float]) -> float:
    return max(max(values) - min(values), FLOOR * max(map(abs, values))) if values else 0.0


def _signs(directions: Mapping[str, int] | None, scores: Scores) -> dict[str, int]:
    sign_of = {metric: int(sign) for metric, sign in _check_numbers(directions, scores, "directions").items()}
    if any(sign not in (1, -1) for sign in (directions or {}).values()):
        raise ValueError("a direction is 1 (more is better) or -1 (less is better)")
    return sign_of


def _scales(scales: Mapping[str, tuple[float, float]] | None, scores: Scores, sign: Mapping[str, int]) -> Numbers:
    spans = {}
    for end in (0, 1):
        _check_numbers({metric: scale[end] for metric, scale in (scales or {}).items()}, scores, "scales")
    for metric, (worst, best) in (scales or {}).items():
        spans[metric] = sign.get(metric, 1) * (best - worst)
        if not 1 / LARGEST < spans[metric] < LARGEST:
            raise ValueError(f"the scale of {metric} needs its worst end first and another, better one")
    return spans


def _check_numbers(numbers: Numbers | None, scores: Scores, argument: str) -> dict[str, float]:
    """The numbers as they are. Raises ValueError for metrics that no model has and for what is not finite."""
    metrics = {metric for its in scores.values() for metric in its}
    unknown = [metric for metric in numbers or {} if metric not in metrics]
    if scores and unknown:
        raise ValueError(f"{argument}: no model has {', '.join(unknown)}; there are {', '.join(sorted(metrics))}")
    strange = [metric for metric, value in (numbers or {}).items() if not isfinite(value)]
    if strange:
        raise ValueError(f"{argument}: {', '.join(strange)} has to be a finite number")
    return dict(numbers or {})
