"""Dynascore: the published table, the defined cases, and what may change without changing a score."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dynabench.stats import dynascore, guarded_dynascore
from dynabench.stats.dynascore import exchange_rates, guarded_exchange_rates, unranked_reasons

# Ma et al., Dynaboard (NeurIPS 2021), Table 2, NLI: performance, examples/s, GiB, fairness, robustness, Dynascore
PUBLISHED = {
    "DeBERTa": (69.54, 7.41, 5.71, 91.97, 75.70, 38.83),
    "RoBERTa": (69.07, 9.23, 4.82, 90.94, 74.82, 38.61),
    "ALBERT": (67.29, 9.60, 2.18, 89.94, 74.12, 37.72),
    "T5": (67.16, 7.10, 10.62, 91.89, 73.47, 37.53),
    "BERT": (64.82, 9.39, 4.13, 92.11, 66.38, 36.36),
    "Majority": (32.41, 77.33, 1.15, 100.0, 100.0, 22.78),
    "FastText": (31.29, 73.94, 2.20, 83.23, 69.14, 21.13),
}
METRICS = ("performance", "throughput", "memory", "fairness", "robustness")
NLI = {model: dict(zip(METRICS, row, strict=False)) for model, row in PUBLISHED.items()}
WEIGHTS = dict(zip(METRICS, (4, 1, 1, 1, 1), strict=True))
LESS = {"memory": -1}
TASK = {"primary": "performance", "directions": LESS}
EXACT = {**TASK, "offsets": {"memory": 32}}


def board(*rows, metrics=("p", "a", "b")):
    return {f"m{place}": dict(zip(metrics, row, strict=False)) for place, row in enumerate(rows)}


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_published_table_is_reproduced(weights):
    result = dynascore(NLI, weights=weights, **EXACT)
    for model, row in PUBLISHED.items():
        assert result[model] == pytest.approx(row[-1], abs=0.1)
    assert sorted(result, key=result.get, reverse=True) == list(PUBLISHED)


def as_written(scores, primary, weights, directions, offsets):
    """The formula of DESIGN.md with arrays, where nothing ties and all metrics vary."""
    metrics = list(weights)
    rows = np.array([[its[metric] for metric in metrics] for its in scores.values()])
    better = rows * [directions.get(metric, 1) for metric in metrics] + [offsets.get(metric, 0) for metric in metrics]
    order = np.argsort(rows[:, metrics.index(primary)])
    steps = np.diff(better[order], axis=0)
    primary_step = steps[:, metrics.index(primary)]
    selected = np.abs(primary_step) > 1e-4 * np.abs(rows[:, metrics.index(primary)]).max()
    rate = np.abs(steps[selected] / primary_step[selected, None]).mean(0)
    share = np.array(list(weights.values())) / sum(weights.values())
    return dict(zip(scores, (better / rate) @ share, strict=True))


values = st.integers(1, 10_000).map(lambda single: single / 100)
rows = st.tuples(values, values, values)
boards = st.lists(rows, min_size=2, max_size=8).map(lambda outcome: board(*outcome))
weighings = st.fixed_dictionaries({"p": st.integers(0, 5), "a": st.integers(0, 5), "b": st.integers(1, 5)})
signs = st.fixed_dictionaries({name: st.sampled_from([1, -1]) for name in "pab"})


@settings(max_examples=25)
@given(boards, weighings, signs, st.integers(0, 64))
def test_the_exact_form_is_the_formula(scores, weights, directions, offset):
    distinct = [{its[metric] for its in scores.values()} for metric in "pab"]
    assume(len(distinct[0]) == len(scores) and min(map(len, distinct)) > 1)
    expected = as_written(scores, "p", weights, directions, {"a": offset})
    assert dynascore(scores, "p", weights, directions, {"a": offset}) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=25)
@given(boards, weighings, signs, st.randoms(use_true_random=False))
def test_the_order_of_models_and_metrics_does_not_matter(scores, weights, directions, random):
    mixed = list(scores)
    random.shuffle(mixed)
    other = {model: dict(reversed(scores[model].items())) for model in mixed}
    for form in (dynascore, guarded_dynascore):
        assert form(other, "p", dict(reversed(weights.items())), directions) == form(scores, "p", weights, directions)


@settings(max_examples=25)
@given(boards, weighings, signs, st.sampled_from("ab"), st.integers(-9, 9), st.integers(0, 40))
def test_the_unit_of_another_metric_does_not_matter(scores, weights, directions, metric, power, offset):
    factor = 2.0**power  # powers of two, so that no rounding moves a pair across the threshold
    other = {model: {**its, metric: its[metric] * factor} for model, its in scores.items()}
    before = dynascore(scores, "p", weights, directions, {metric: offset})
    assert dynascore(other, "p", weights, directions, {metric: offset * factor}) == pytest.approx(before)
    guarded = guarded_dynascore(scores, "p", weights, directions)
    assert guarded_dynascore(other, "p", weights, directions) == pytest.approx(guarded)


@settings(max_examples=25)
@given(boards, weighings, signs, st.integers(-9, 9))
def test_the_unit_of_the_primary_is_the_unit_of_the_score(scores, weights, directions, power):
    factor = 2.0**power
    other = {model: {**its, "p": its["p"] * factor} for model, its in scores.items()}
    before, after = (dynascore(item, "p", weights, directions) for item in (scores, other))
    assert after == pytest.approx({model: score * factor for model, score in before.items()})
    guarded = guarded_dynascore(scores, "p", weights, directions)
    assert guarded_dynascore(other, "p", weights, directions) == pytest.approx(guarded)


@settings(max_examples=25)
@given(boards, weighings, signs, st.data())
def test_a_duplicate_changes_no_score_and_ties(scores, weights, directions, data):
    twin = data.draw(st.sampled_from(sorted(scores)))
    for form in (dynascore, guarded_dynascore):
        before, after = (form(item, "p", weights, directions) for item in (scores, {**scores, "twin": scores[twin]}))
        assert after.pop("twin") == after[twin]
        assert after == before


def test_another_model_may_turn_the_order_of_two_in_the_exact_form():
    """Dynaboard's help text admits this; the exact form is the published one."""
    scores = {"x": {"p": 80, "a": 10}, "y": {"p": 78, "a": 14}}
    weights = {"p": 4, "a": 5}
    alone, three = (dynascore(item, "p", weights) for item in (scores, {**scores, "z": {"p": 20, "a": 900}}))
    assert alone["y"] > alone["x"]
    assert three["x"] > three["y"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(80, 5, 7)], [80 * 4 / 6]),  # one model: no rate, the primary alone
        ([(80, 5, 7), (80, 9, 1)], [80 * 4 / 6] * 2),  # all primaries tied
        ([(80, 5, 7), (80.000001, 9, 1)], [80 * 4 / 6, 80.000001 * 4 / 6]),  # closer than the threshold
        ([(0, 5, 7), (0, 9, 1)], [0, 0]),
        ([(80, 5, 7), (70, 5, 8)], [80 * 4 / 6 + 70 / 6, 70 * 4 / 6 + 80 / 6]),  # a is constant
        ([(80, 0.1 + 0.2, 7), (70, 0.3, 8)], [80 * 4 / 6 + 70 / 6, 70 * 4 / 6 + 80 / 6]),  # but for rounding
    ],
)
def test_without_an_exchange_rate_a_metric_adds_nothing(rows, expected):
    result = dynascore(board(*rows), "p")
    assert list(result.values()) == pytest.approx(expected)


def test_ties_in_the_primary_are_ordered_by_the_other_metrics():
    scores = board((80, 1, 5), (80, 9, 2), (70, 4, 4))
    rate = {
        "a": (1 - 4) / 10,
        "b": (5 - 4) / 10,
    }  # neighbours across a tie: the tied model that is first by its metrics
    expected = {name: (80 if name != "m2" else 70) * 4 / 6 for name in scores}
    for name, its in scores.items():
        expected[name] += sum(its[metric] / abs(rate[metric]) for metric in "ab") / 6
    assert dynascore(scores, "p") == pytest.approx(expected)


def test_a_primary_of_which_less_is_better_ranks_the_lower_first():
    scores = board((5.0, 10, 1), (9.0, 20, 2), (30.0, 30, 4))
    result = dynascore(scores, "p", {"p": 4, "a": 1}, {"p": -1, "a": -1})
    assert all(item > other for item, other in pairwise(result.values()))
    assert all(map(math.isfinite, result.values()))


def test_models_that_lack_a_weighted_metric_are_left_out_with_the_reason():
    scores = {**board((80, 5, 7), (70, 6, 8)), "file": {"p": 75}, "odd": {"p": 60, "a": math.nan, "b": math.inf}}
    assert set(dynascore(scores, "p")) == set(guarded_dynascore(scores, "p")) == {"m0", "m1"}
    assert unranked_reasons(scores, "p") == {
        "file": "no a; no b",
        "odd": "a is not a finite number; b is not a finite number",
    }
    assert set(dynascore(scores, "p", {"p": 1})) == {"m0", "m1", "file", "odd"}
    without = {model: its for model, its in scores.items() if model in ("m0", "m1")}
    assert dynascore(scores, "p") == dynascore(without, "p")


def test_the_primary_is_needed_though_it_weighs_nothing():
    scores = {**board((80, 5, 7), (70, 6, 8)), "x": {"a": 3, "b": 1}}
    assert unranked_reasons(scores, "p", {"a": 1}) == {"x": "no p"}
    assert dynascore(scores, "p", {"a": 1}) == pytest.approx({"m0": 5 / (1 / 10), "m1": 6 / (1 / 10)})


@pytest.mark.parametrize("form", [dynascore, guarded_dynascore])
@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"primary": "nothing"}, "nothing"),
        ({"primary": "p", "weights": {"p": 0, "a": 0}}, "above 0"),
        ({"primary": "p", "weights": {}}, "above 0"),
        ({"primary": "p", "weights": {"p": 1, "a": -1}}, "0 or more"),
        ({"primary": "p", "weights": {"p": math.inf}}, "finite"),
        ({"primary": "p", "weights": {"p": math.nan}}, "finite"),
        ({"primary": "p", "weights": {"p": 1, "c": 1}}, "no model has c"),
        ({"primary": "p", "directions": {"c": 1}}, "no model has c"),
        ({"primary": "p", "directions": {"a": 0}}, "direction"),
        ({"primary": "p", "directions": {"a": 0.5}}, "direction"),
    ],
)
def test_what_cannot_be_weighed_is_refused(form, arguments, match):
    with pytest.raises(ValueError, match=match):
        form(board((80, 5, 7), (70, 6, 8)), **arguments)


def test_offsets_and_scales_are_checked():
    scores = board((80, 5, 7), (70, 6, 8))
    with pytest.raises(ValueError, match="no model has c"):
        dynascore(scores, "p", offsets={"c": 1})
    with pytest.raises(ValueError, match="finite"):
        dynascore(scores, "p", offsets={"a": math.nan})
    for scale in [(5, 5), (9, 5), (5, math.inf), (math.nan, 5), (0, 1e-300)]:
        with pytest.raises(ValueError, match=r"scale|finite"):
            guarded_dynascore(scores, "p", scales={"a": scale})
    with pytest.raises(ValueError, match="worst end first"):
        guarded_dynascore(scores, "p", directions={"a": -1}, scales={"a": (5, 9)})


@pytest.mark.parametrize("form", [dynascore, guarded_dynascore])
def test_no_models_have_no_scores(form):
    assert form({}, "p") == form({}, "p", {"p": 4}, {"p": -1}) == {}
    assert form({"x": {"p": math.nan}}, "p") == {}


# The guarded form


wild = st.one_of(
    st.floats(-1e100, 1e100, exclude_min=True, exclude_max=True),
    st.sampled_from([0.0, 1.0, 1.0 + 1e-15, 5e-324, 1e-300, -1e99, 1e99]),
    st.floats(-100, 100),
)
wild_boards = st.lists(st.tuples(wild, wild, wild), min_size=1, max_size=6).map(lambda candidate: board(*candidate))


@settings(max_examples=25)
@given(wild_boards, weighings, signs)
def test_both_forms_are_finite_whatever_the_numbers(scores, weights, directions):
    assert all(map(math.isfinite, dynascore(scores, "p", weights, directions).values()))
    result = guarded_dynascore(scores, "p", weights, directions)
    assert set(result) == set(scores)
    assert all(-1e-9 <= score <= 100 + 1e-9 for score in result.values())


better = st.one_of(st.floats(0, 200), st.sampled_from([0.0, 1e-9, 0.01, 1e6]))
plain = st.one_of(st.floats(-100, 100), st.integers(0, 4).map(float), st.floats(99, 100))
plain_boards = st.lists(st.tuples(plain, plain, plain), min_size=1, max_size=6).map(lambda found: board(*found))


@settings(max_examples=25)
@given(plain_boards, weighings, signs, st.sampled_from("pab"), better, st.data())
def test_who_improves_never_falls_nor_loses_ground_to_anybody(scores, weights, directions, metric, more, data):
    """In its own score and against each other model, with the scale computed anew."""
    model = data.draw(st.sampled_from(sorted(scores)))
    improved = {**scores[model], metric: scores[model][metric] + directions[metric] * more}
    before = guarded_dynascore(scores, "p", weights, directions)
    after = guarded_dynascore({**scores, model: improved}, "p", weights, directions)
    assert after[model] >= before[model] - 1e-7
    for other in scores:
        assert after[model] - after[other] >= before[model] - before[other] - 1e-7


@settings(max_examples=25)
@given(plain_boards, weighings, signs, st.tuples(better, better, better), st.data())
def test_who_is_better_in_everything_scores_no_less(scores, weights, directions, more, data):
    model = data.draw(st.sampled_from(sorted(scores)))
    up = {name: scores[model][name] + directions[name] * step for name, step in zip("pab", more, strict=True)}
    result = guarded_dynascore({**scores, "up": up}, "p", weights, directions)
    assert result["up"] >= result[model] - 1e-9


@settings(max_examples=25)
@given(plain_boards, plain_boards, weighings, signs)
def test_declared_scales_make_scores_independent_of_the_others(scores, others, weights, directions):
    scales = {name: (0, 100) if directions[name] == 1 else (100, 0) for name in "pab"}
    together = {**scores, **{f"other {model}": its for model, its in others.items()}}
    alone, result = (guarded_dynascore(item, "p", weights, directions, scales) for item in (scores, together))
    assert {model: result[model] for model in alone} == alone


def test_the_worst_has_0_and_the_best_100():
    scores = board((60, 5, 9), (90, 50, 1), (70, 6, 8))
    result = guarded_dynascore(scores, "p", directions={"b": -1})
    assert result["m0"] == 0
    assert result["m1"] == pytest.approx(100)
    assert result["m2"] == pytest.approx(100 * (4 * 10 / 30 + 1 / 45 + 1 / 8) / 6)


def test_a_difference_below_one_percent_does_not_swing_the_board():
    scores = board((90.0, 10), (80.0, 10.001), metrics=("p", "a"))
    result = guarded_dynascore(scores, "p", {"p": 1, "a": 1})
    assert result["m0"] == pytest.approx(50)
    assert result["m1"] == pytest.approx(50 * 0.001 / 0.10001)


@settings(max_examples=25)
@given(plain_boards, weighings, signs)
def test_exchange_rates_explain_differences(scores, weights, directions):
    for form, rates in ((dynascore, exchange_rates), (guarded_dynascore, guarded_exchange_rates)):
        factor, result = rates(scores, "p", weights, directions), form(scores, "p", weights, directions)
        assert set(factor) == {metric for metric, weight in weights.items() if weight}
        assert all(factor[metric] * directions[metric] >= 0 for metric in factor)
        first = scores["m0"]
        for model, its in scores.items():
            expected = sum(factor[metric] * (its[metric] - first[metric]) for metric in factor)
            size = sum(abs(factor[metric]) * 200 for metric in factor)
            assert result[model] - result["m0"] == pytest.approx(expected, abs=1e-9 * (1 + size))
