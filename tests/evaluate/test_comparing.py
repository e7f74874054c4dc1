"""Two and many systems compared."""

import json
import subprocess
import sys
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import Metric, compare, load
from dynabench.evaluate.card import Output
from dynabench.evaluate.columns import Labels
from dynabench.evaluate.comparing import comparison_table
from dynabench.evaluate.states import Sums
from dynabench.stats.p_values import CORRECTIONS, correct_p_values

TESTS = ("paired_bootstrap", "approximate_randomization", "mcnemar", "wilcoxon")


def rows(n, shares, seed=0, classes=3):
    """References, and systems called s0, s1... that are right this often."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, classes, n)
    wheres = [np.where(rng.random(n) < share, true, rng.integers(0, classes, n)) for share in shares]
    return {f"s{place}": first for place, first in enumerate(wheres)}, true


def pair_of(result, first, second):
    return next(pair for pair in result["pairs"] if (pair["first"], pair["second"]) == (first, second))


@pytest.mark.parametrize("name", TESTS)
def test_the_best_system_is_found_and_equal_ones_are_not_told_apart(name):
    systems, true = rows(400, [0.5, 0.9, 0.5])
    systems["copy"] = systems["s0"].copy()
    result = compare(systems, true, comparison=name, resamples=999)
    assert next(iter(result["systems"])) == "s1"
    assert {pair["better"] for pair in result["pairs"] if "s1" in (pair["first"], pair["second"])} == {"s1"}
    same = pair_of(result, "s0", "copy")
    assert (same["difference"], same["p"], same["corrected_p"], same["better"]) == (0.0, 1.0, 1.0, None)
    assert same["conclusion"] == "no difference shown between s0 and copy"
    assert pair_of(result, "s0", "s1")["conclusion"] == "s1 is better than s0"


@pytest.mark.parametrize("name", TESTS)
def test_each_pair_has_what_the_comparison_itself_gives(name):
    systems, true = rows(80, [0.7, 0.6, 0.65])
    result = compare(systems, true, comparison=name, resamples=999)
    for pair in result["pairs"]:
        system, other = systems[pair["first"]], systems[pair["second"]]
        if name == "wilcoxon":
            alone = load(name).compute(predictions1=1.0 * (system == true), predictions2=1.0 * (other == true))
        else:
            options = {"resamples": 999} if name in TESTS[:2] else {}
            alone = load(name).compute(predictions1=system, predictions2=other, references=true, **options)
            span = alone.get("interval", {}).get("difference", pair)
            assert (pair["low"], pair["high"]) == (span["low"], span["high"])
            assert pair["difference"] == alone.get("difference", pair["difference"])
        assert pair["p"] == alone["p"]


@pytest.mark.parametrize("name", CORRECTIONS)
def test_p_values_are_corrected_for_the_number_of_pairs(name):
    systems, true = rows(150, [0.8, 0.7, 0.65, 0.6])
    comparison = compare(systems, true, correction=name, resamples=499)
    p = [pair["p"] for pair in comparison["pairs"]]
    assert len(p) == 6
    assert [pair["corrected_p"] for pair in comparison["pairs"]] == correct_p_values(p, name).tolist()
    for pair in comparison["pairs"]:
        assert (pair["better"] is not None) == (pair["corrected_p"] <= 0.05)


@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_scores_and_intervals_are_those_of_the_metric(metric):
    systems, true = rows(120, [0.7, 0.6])
    options = {"average": "macro"} if metric == "f1" else {}
    comparison = compare(systems, true, metric=metric, level=0.9, resamples=500, **options)
    for name, system in systems.items():
        alone = load(metric).compute(predictions=system, references=true, interval=0.9, resamples=500, **options)
        first, span = comparison["systems"][name], alone["interval"][metric]
        assert first["score"] == alone[metric]
        assert (first["low"], first["high"]) == (span["low"], span["high"])


def test_options_reach_the_comparison_and_the_metric():
    systems, true = rows(60, [0.8, 0.5], classes=2)
    exact = compare(systems, true, comparison="mcnemar", exact=True, resamples=99, normalize=True)
    alone = load("mcnemar").compute(predictions1=systems["s0"], predictions2=systems["s1"], references=true, exact=True)
    assert exact["pairs"][0]["p"] == alone["p"]
    heavy = compare(systems, true, sample_weight=true + 0.5, resamples=99)
    right = (systems["s0"] == true) @ (true + 0.5) / (true + 0.5).sum()
    assert heavy["systems"]["s0"]["score"] == pytest.approx(right)
    assert compare(systems, true, sample_weight=None, resamples=99) == compare(systems, true, resamples=99)
    with pytest.raises(TypeError, match="averge"):
        compare(systems, true, metric="f1", averge="macro")


def test_a_function_has_no_direction():
    systems, true = rows(200, [0.9, 0.5])

    def wrong(predictions, references):
        return float(np.mean(predictions != references))

    comparison = compare(systems, true, metric=wrong, resamples=200, method="percentile")
    assert (comparison["metric"], comparison["better"]) == ("wrong", None)
    assert comparison["pairs"][0]["better"] is None
    assert comparison["pairs"][0]["conclusion"] == "s1 is higher than s0"


class Errors(Metric):
    """The share of wrong predictions: less is better."""

    card = replace(load("accuracy").card, outputs=(Output("errors", "", 0, 1, "lower"),))
    columns = MappingProxyType({"predictions": Labels(), "references": Labels()})

    def update(self, predictions, references):
        return Sums(predictions != references)

    def formula(self, total):
        return {"errors": total[..., 0] / total[..., 1]}


def test_where_less_is_better_the_lower_score_wins():
    systems, true = rows(300, [0.5, 0.9])
    comparison = compare(systems, true, metric=Errors(), resamples=500)
    assert list(comparison["systems"]) == ["s1", "s0"]
    assert comparison["pairs"][0]["difference"] > 0
    assert comparison["pairs"][0]["conclusion"] == "s1 is better than s0"


def test_nothing_but_numpy_is_imported_before_it_is_needed():
    code = "import sys; from dynabench.evaluate import compare, visualization; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"scipy", "matplotlib", "altair", "pandas"} & set(loaded)


@pytest.mark.release
@given(st.integers(2, 12), st.integers(2, 5), st.integers(0, 1000))
def test_results_are_plain_complete_and_the_same_each_time(n, count, seed):
    systems, true = rows(n, [0.6] * count, seed)
    comparison = compare(systems, true, metric="f1", average="macro", resamples=50)
    assert json.dumps(comparison, allow_nan=False) == json.dumps(
        compare(systems, true, metric="f1", average="macro", resamples=50)
    )
    assert len(comparison["pairs"]) == count * (count - 1) // 2
    assert all(0 < pair["p"] <= pair["corrected_p"] <= 1 for pair in comparison["pairs"])
    assert all(pair["low"] <= pair["high"] for pair in comparison["pairs"])


@pytest.mark.release
def test_four_equal_systems_are_rarely_told_apart():
    """The chance that any of six pairs seems to differ stays near 5%, where without correction it is above 10%."""
    any_found = dict.fromkeys(("holm", "none"), 0)
    for seed in range(120):
        systems, true = rows(120, [0.6] * 4, seed)
        p = [pair["p"] for pair in compare(systems, true, comparison="mcnemar", exact=True, resamples=10)["pairs"]]
        for name in any_found:
            any_found[name] += min(correct_p_values(p, name)) <= 0.05
    assert any_found["holm"] / 120 <= 0.09
    assert any_found["none"] / 120 > 0.1


def test_the_table_says_all_systems_and_pairs():
    systems, true = rows(100, [0.9, 0.4])
    text = comparison_table(compare(systems, true, resamples=99)).splitlines()
    assert text[0] == "accuracy of 100 examples, 95% intervals"
    assert [line.split()[0] for line in text[1:3]] == ["s0", "s1"]
    assert text[-1].endswith("s0 is better than s1")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": {"a": [1, 0]}}, "at least two systems"),
        ({"systems": [[1, 0], [0, 1]]}, "at least two systems"),
        ({"systems": {"a": [1, 0, 1], "b": [1]}}, "b has 1 predictions, but there are 3 references"),
        ({"systems": {"a": [1, 0, 1], "b": [1, None, 1]}}, "b: row 1 is missing"),
        ({"references": None}, "references"),
        ({"level": 1.5}, "between 0 and 1"),
        ({"correction": "tukey"}, "no correction 'tukey'"),
        ({"comparison": "exact_match"}, "gives no p value"),
        ({"comparison": "mcnemar", "metric": "f1"}, "no scores per example"),
        ({"comparison": "wilcoxon", "metric": lambda p, r: 0.5}, "choose paired_bootstrap"),
        ({"metric": "f1", "average": None}, "choose an average"),
    ],
)
def test_what_cannot_be_compared_is_told(change, message):
    values = {"systems": {"a": [1, 0, 1], "b": [1, 1, 1]}, "references": [1, 0, 0], "resamples": 20, **change}
    with pytest.raises(ValueError, match=message):
        compare(**values)
