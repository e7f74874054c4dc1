"""Averages over data sets and rounds, and the distance of a round's models from people.

Source of the saturation scale: Kiela et al., Plotting Progress in AI (2023), after Kiela et al., Dynabench,
NAACL 2021.
"""

from collections.abc import Mapping, Sequence
from math import fsum, isfinite

NumberByName = Mapping[str, float]


def average_over_datasets(
    scores: Mapping[str, Mapping[str, NumberByName]], weights: NumberByName | None = None
) -> dict[str, dict[str, float]]:
    """Return {model: {metric: value}} from {model: {data set: {metric: value}}}, weighted by `dataset_shares`.

    A metric that a model lacks on one of the metric's data sets is left out for this model. Errors as for
    `dataset_shares`.
    """
    share = dataset_shares(scores, weights)
    averages: dict[str, dict[str, float]] = {model: {} for model in scores}
    for model, its in scores.items():
        for metric, parts in share.items():
            values = [its.get(dataset, {}).get(metric) for dataset in parts]
            if None not in values:
                averages[model][metric] = fsum(
                    weight * value for weight, value in zip(parts.values(), values, strict=True) if value is not None
                )
    return averages


def dataset_shares(
    scores: Mapping[str, Mapping[str, NumberByName]], weights: NumberByName | None = None
) -> dict[str, dict[str, float]]:
    """Return the weight of each data set in each metric, {metric: {data set: share}}; shares of a metric add up to 1.

    Only data sets on which some model has the metric count. All weigh the same where `weights` is None; those that
    `weights` does not name weigh nothing, and a metric whose data sets all weigh nothing is left out. Raises
    ValueError for weights that are negative, not finite, all 0 or of unknown data sets.
    """
    held: dict[str, dict[str, None]] = {}  # metric -> data sets, in a fixed order
    datasets = sorted({dataset for its in scores.values() for dataset in its})
    for dataset in datasets:
        for metric in {metric for its in scores.values() for metric in its.get(dataset, {})}:
            held.setdefault(metric, {})[dataset] = None
    if weights is None:
        weights = dict.fromkeys(datasets, 1.0)
    unknown = [dataset for dataset in weights if dataset not in datasets]
    if scores and unknown:
        raise ValueError(f"no model has scores on {', '.join(unknown)}; there are {', '.join(datasets)}")
    if any(not isfinite(weight) or weight < 0 for weight in weights.values()):
        raise ValueError("weights of data sets are finite numbers, 0 or more")
    if datasets and not any(weights.values()):
        raise ValueError("at least one data set needs a weight above 0")
    shares_by_metric = {}
    for metric in sorted(held):
        own = {dataset: weights[dataset] for dataset in held[metric] if weights.get(dataset)}
        if own:
            total = fsum(own.values())
            shares_by_metric[metric] = {dataset: weight / total for dataset, weight in own.items()}
    return shares_by_metric


def recency_weights(rounds: Sequence[bool], discount: float = 0.0) -> list[float]:
    """Return the weight of each data set in a mean that counts each older round less by the share `discount`.

    The newest round weighs 1. `rounds` says which data sets, oldest first, are rounds; others are not old and
    weigh 1. 0 is the plain mean. Raises ValueError unless 0 <= discount < 1.
    """
    if not 0 <= discount < 1:
        raise ValueError(f"a discount lies from 0 to below 1, not at {discount}")
    later, newest_first = 0, []
    for is_round in reversed(rounds):
        newest_first.append((1 - discount) ** later if is_round else 1.0)
        later += is_round
    return newest_first[::-1]


def saturation(value: float, first: float, human: float, direction: int = 1) -> float | None:
    """Return the position of a score between a round's first model, at -1, and people, at 0.

    Above 0: better than people.

    (value - human) / (human - first). None where there is no such scale, because the first model is not worse than
    people (`direction` -1: less is better) or a number is not finite.
    """
    span = human - first
    if not all(map(isfinite, (value, first, human))) or direction * span <= 0:
        return None
    return (value - human) / span
