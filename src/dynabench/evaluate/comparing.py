"""Comparison of two or more systems on the same examples."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np

from dynabench.evaluate.loading import load
from dynabench.evaluate.module import Module
from dynabench.evaluate.resampling import bootstrap_intervals
from dynabench.evaluate.score_differences import (
    AnyColumn,
    FunctionScore,
    Metric,
    ModuleScore,
    ResamplingOptions,
    ScoreTest,
    SignificanceTest,
    StatePair,
    difference_acceleration,
    make_measure,
    score_difference,
    total_score,
)
from dynabench.evaluate.states import State
from dynabench.evaluate.values import to_plain
from dynabench.stats.p_values import correct_p_values

COLUMNS = ("sample_weight", "sources")
SIDES = ("low", "high", "standard_error")


def compare(
    systems: Mapping[str, Any],
    references: Any,
    metric: Metric = "accuracy",
    comparison: str | Module = "paired_bootstrap",
    correction: str = "holm",
    level: float = 0.95,
    *,
    key: str | None = None,
    resamples: int = 9999,
    method: str = "bca",
    seed: int = 0,
    **options: Any,
) -> dict[str, Any]:
    """Score every system, and test for every two of them whether they differ.

    Args:
        systems: predictions by the system's name; at least two.
        references: the right answers, for the same examples in the same order.
        metric: a name, a loaded module, or a function of predictions and references that gives a number.
        comparison: "paired_bootstrap", "approximate_randomization", or a test of the scores of each example:
            "wilcoxon", or "mcnemar" where these are right or wrong.
        correction: of the p values for their number: "holm", "benjamini_hochberg", "bonferroni" or "none".
        level: of the intervals; two systems differ where the corrected p value is at most 1 - level.
        key: the metric's score to compare; the first of its card by default.
        resamples: how many times rows are resampled.
        method: of the intervals: "bca", "percentile" or "basic".
        seed: of the random numbers; the same seed gives the same result.
        options: `sample_weight` and `sources` of the examples; options of the comparison; all others are the metric's.

    Returns:
        plain data: "systems" with score and interval of each by name, from best to worst where the metric has a
        direction; "pairs" with difference, interval (for this pair alone), "p", "corrected_p", "better" (the better
        system's name, None where none is shown to be) and "conclusion" of each; and the settings of the call.
        `comparison_table` writes it as text.

    Raises:
        ValueError: fewer than two systems, rows that cannot be compared, unknown names; the message says which.
        TypeError: an option that neither comparison nor metric knows.
    """
    test, drawing = _test(comparison), ResamplingOptions(level, resamples, method, seed)
    _check(systems, level, correction)
    extra_columns = {name: options.pop(name, None) for name in COLUMNS}
    test_options = {name: options.pop(name) for name in list(options) if name in _test_options(test)}
    measure = make_measure(metric, key, options)
    columns = {name: column for name, column in extra_columns.items() if column is not None}
    states = _states(systems, measure, {"references": references, **columns})
    pairs = [
        {
            "first": system,
            "second": other,
            **_compare_pair(StatePair(states[system], states[other]), measure, test, test_options, drawing),
        }
        for system, other in combinations(states, 2)
    ]
    for pair, p in zip(pairs, correct_p_values([pair["p"] for pair in pairs], correction), strict=True):
        pair |= {"corrected_p": float(p), **_conclusion(pair, measure.better, bool(p <= 1 - level))}
    settings = {"metric": measure.name, "better": measure.better, "comparison": test.name, "correction": correction}
    scores = {name: _score(measure, state, drawing) for name, state in states.items()}
    result: dict[str, Any] = to_plain(
        {
            **settings,
            "level": level,
            "n": len(next(iter(states.values()))),
            "systems": _ordered(scores, measure.better),
            "pairs": pairs,
        }
    )
    return result


def comparison_table(result: Mapping[str, Any]) -> str:
    """Return the result of `compare` as text: a line for each system, then one for each pair."""
    width = max(map(len, result["systems"]))
    percent = f"{100 * result['level']:g}%"
    lines = [f"{result['metric']} of {result['n']:,} examples, {percent} intervals"]
    for name, system in result["systems"].items():
        lines.append(f"  {name:{width}}  {system['score']:.4g}  ({_interval_text(system)})")
    lines.append(f"{result['comparison']}, p corrected by {result['correction']}")
    for pair in result["pairs"]:
        names = f"{pair['first']:{width}} - {pair['second']:{width}}"
        figures = f"{pair['difference']:+.4g}  ({_interval_text(pair)})  p {pair['corrected_p']:.3g}"
        lines.append(f"  {names}  {figures}  {pair['conclusion']}")
    return "\n".join(lines)


def _test(comparison: str | Module) -> SignificanceTest:
    test = load(comparison, module_type="comparison") if isinstance(comparison, str) else comparison
    if not isinstance(test, SignificanceTest):
        raise ValueError(f"{test.name} gives no p value; choose a comparison that does, such as paired_bootstrap")
    return test


def _test_options(test: SignificanceTest) -> set[str]:
    """The comparison's own options, but for those that are arguments of `compare`."""
    own_arguments = {"metric", "metric_options", "key", "interval", "resamples", "method", "seed"}
    return set(test.options_known()) - own_arguments


def _check(systems: Mapping[str, Any], level: float, correction: str) -> None:
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise ValueError("give at least two systems, as {name: predictions}")
    if not 0 < level < 1:
        raise ValueError(f"the level lies between 0 and 1, not at {level}")
    correct_p_values([], correction)


def _states(
    systems: Mapping[str, Any], measure: ModuleScore | FunctionScore, columns: Mapping[str, Any]
) -> dict[str, State]:
    n = len(AnyColumn().clean(columns["references"], "references"))
    states = {}
    for name, predictions in systems.items():
        column = AnyColumn().clean(predictions, str(name))
        if len(column) != n:
            raise ValueError(f"{name} has {len(column):,} predictions, but there are {n:,} references")
        states[str(name)] = measure.state(column, columns, str(name))
    if len({len(state) for state in states.values()}) > 1:
        raise ValueError(f"{measure.name} counts different rows for different systems, which cannot be paired")
    return states


def _score(measure: ModuleScore | FunctionScore, state: State, drawing: ResamplingOptions) -> dict[str, Any]:
    def formula(total: Any) -> dict[str, Any]:
        return {"score": measure.statistic(total)}

    value = total_score(measure, state)
    span = bootstrap_intervals(state, formula, drawing.level, drawing.resamples, drawing.method, drawing.seed)["score"]
    return {"score": value, **{side: span[side] for side in SIDES}}


def _compare_pair(
    pair: StatePair,
    measure: ModuleScore | FunctionScore,
    test: SignificanceTest,
    options: Mapping[str, Any],
    drawing: ResamplingOptions,
) -> dict[str, Any]:
    """Difference, interval and p of two systems."""
    pair_difference = score_difference(pair, measure, drawing)
    span = pair_difference.interval(drawing, difference_acceleration(pair, measure.statistic, drawing))
    if isinstance(test, ScoreTest):
        p = test.test(pair, measure, pair_difference, drawing)["p"]
    else:
        p = _p_by_example(pair, measure, test, options)
    return {"difference": pair_difference.value, **{side: span[side] for side in SIDES}, "p": p}


def _p_by_example(
    pair: StatePair, measure: ModuleScore | FunctionScore, test: SignificanceTest, options: Mapping[str, Any]
) -> float:
    """p of a test that takes one number for each example."""
    first, second = measure.row_scores(pair.first), measure.row_scores(pair.second)
    columns: dict[str, Any] = {"predictions1": first, "predictions2": second}
    if "references" in test.columns:
        if not np.isin([first, second], (0, 1)).all():
            raise ValueError(f"{test.name} needs examples that are right or wrong; use wilcoxon or paired_bootstrap")
        columns["references"] = np.ones(len(first), np.int64)
    return float(test.compute(**columns, **options)["p"])


def _conclusion(pair: Mapping[str, Any], better: str | None, differ: bool) -> dict[str, Any]:
    """The better system's name, if the corrected p value shows one, and a sentence."""
    first, second, delta = pair["first"], pair["second"], pair["difference"]
    if not differ:
        return {"better": None, "conclusion": f"no difference shown between {first} and {second}"}
    if delta == 0:
        return {"better": None, "conclusion": f"{first} and {second} differ, though their scores are equal"}
    upper, lower = (first, second) if delta > 0 else (second, first)
    if better is None:
        return {"better": None, "conclusion": f"{upper} is higher than {lower}"}
    best, worst = (upper, lower) if better == "higher" else (lower, upper)
    return {"better": best, "conclusion": f"{best} is better than {worst}"}


def _ordered(scores: Mapping[str, Any], better: str | None) -> dict[str, Any]:
    sign = {"higher": -1, "lower": 1}.get(better or "", 0)
    return dict(sorted(scores.items(), key=lambda item: sign * float(item[1]["score"])))


def _interval_text(interval: Mapping[str, Any]) -> str:
    if interval["low"] is None:
        return "no interval"
    return f"{interval['low']:.4g} to {interval['high']:.4g}"
