"""The paired bootstrap and the approximate randomization test, against scipy, all permutations and simulation."""

import itertools
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import f1_score

from dynabench.evaluate import Metric, load
from dynabench.evaluate.card import Output
from dynabench.evaluate.columns import Numbers
from dynabench.evaluate.states import Rows

TESTS = ("paired_bootstrap", "approximate_randomization")


def systems(n, seed, first=0.8, second=0.7, classes=3):
    """References and two systems that are right this often."""
    rng = np.random.default_rng(seed)
    true = rng.integers(0, classes, n)
    wheres = [np.where(rng.random(n) < share, true, rng.integers(0, classes, n)) for share in (first, second)]
    return {"predictions1": wheres[0], "predictions2": wheres[1], "references": true}


def mean_error(predictions, references):
    return float(np.abs(predictions - references).mean())


# Intervals


@pytest.mark.parametrize("method", ["bca", "percentile", "basic"])
def test_the_interval_of_accuracy_agrees_with_scipy(method):
    rows = systems(200, 1)
    right = [(rows[name] == rows["references"]).astype(float) for name in ("predictions1", "predictions2")]
    theirs = stats.bootstrap(
        right,
        lambda first, other, axis: first.mean(axis) - other.mean(axis),
        paired=True,
        vectorized=True,
        method=method,
        n_resamples=20_000,
        rng=np.random.default_rng(0),
    )
    difference = load("paired_bootstrap").compute(**rows, method=method, resamples=20_000)["interval"]["difference"]
    assert difference["low"] == pytest.approx(theirs.confidence_interval.low, abs=0.0051)  # one row in 200
    assert difference["high"] == pytest.approx(theirs.confidence_interval.high, abs=0.0051)
    assert difference["standard_error"] == pytest.approx(theirs.standard_error, rel=0.03)


@pytest.mark.release
def test_the_interval_of_macro_f1_agrees_with_scipy_and_sklearn():
    rows = systems(90, 2, second=0.6)

    def macro_f1(true, predictions):
        columns = true[true == predictions], true, predictions
        hits, right, named = (np.bincount(labels, minlength=3) for labels in columns)
        return (2 * hits / (right + named)).mean()

    def difference(first, other, true):
        return macro_f1(true, first) - macro_f1(true, other)

    theirs = stats.bootstrap(
        list(rows.values()), difference, paired=True, vectorized=False, n_resamples=800, rng=np.random.default_rng(0)
    )
    result = load("paired_bootstrap").compute(**rows, metric="f1", metric_options={"average": "macro"})
    scores = [f1_score(rows["references"], rows[name], average="macro") for name in ("predictions1", "predictions2")]
    assert result["difference"] == pytest.approx(scores[0] - scores[1])
    assert result["interval"]["difference"]["low"] == pytest.approx(theirs.confidence_interval.low, abs=0.02)
    assert result["interval"]["difference"]["high"] == pytest.approx(theirs.confidence_interval.high, abs=0.02)


def test_a_function_is_resampled_like_a_metric():
    rng = np.random.default_rng(3)
    true = rng.normal(size=60)
    rows = {"predictions1": true + rng.normal(0, 1, 60), "predictions2": true + rng.normal(0, 1.3, 60)}
    off = [np.abs(row - true) for row in rows.values()]
    theirs = stats.bootstrap(
        off, lambda a, b, axis: a.mean(axis) - b.mean(axis), paired=True, rng=np.random.default_rng(0)
    )
    result = load("paired_bootstrap").compute(**rows, references=true, metric=mean_error, resamples=2000)
    assert result["difference"] == pytest.approx(off[0].mean() - off[1].mean())
    for side in ("low", "high"):
        assert result["interval"]["difference"][side] == pytest.approx(
            getattr(theirs.confidence_interval, side), abs=0.03
        )


def test_the_level_of_the_interval_can_be_chosen():
    rows = systems(100, 1)
    wide, narrow = (
        load("paired_bootstrap").compute(**rows, interval=level)["interval"]["difference"] for level in (0.99, 0.5)
    )
    assert wide["low"] < narrow["low"] < narrow["high"] < wide["high"]
    assert wide["level"] == 0.99
    loaded = load("paired_bootstrap", interval=0.99, resamples=9999)
    assert loaded.compute(**rows)["interval"]["difference"] == wide
    assert loaded.compute(**rows, interval=0.5)["interval"]["difference"] == narrow


# p values


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=9))
def test_randomization_of_few_rows_agrees_with_all_permutations(rows):
    first, other, true = (np.array(column) for column in zip(*rows, strict=True))

    def macro(predictions):
        """Of each way, shape (ways,)."""
        hits = [((predictions == label) & (true == label)).sum(1) for label in range(3)]
        sizes = [np.maximum((predictions == label).sum(1) + (true == label).sum(), 1) for label in range(3)]
        return np.mean([2 * hit / size for hit, size in zip(hits, sizes, strict=True)], 0)

    moved = np.array(list(itertools.product((False, True), repeat=len(rows))))
    ways = np.abs(macro(np.where(moved, other, first)) - macro(np.where(moved, first, other)))
    result = load("approximate_randomization").compute(
        predictions1=first,
        predictions2=other,
        references=true,
        metric="f1",
        metric_options={"average": "macro", "labels": [0, 1, 2]},
        resamples=50,
    )
    assert result["exact"]
    assert result["p"] == pytest.approx(np.mean(ways >= ways[0] - 1e-12))


@given(first=st.integers(0, 40), second=st.integers(0, 40))
def test_exact_randomization_of_accuracy_is_the_exact_mcnemar_test(first, second):
    right = [(1, 0)] * first + [(0, 1)] * second + [(1, 1)] * 5
    single, other = (np.array(column) for column in zip(*right, strict=True))
    rows = {"predictions1": single, "predictions2": other, "references": np.ones(len(right), int)}
    result = load("approximate_randomization").compute(**rows, resamples=20)
    assert result["p"] == pytest.approx(load("mcnemar").compute(**rows, exact=True)["p"], rel=1e-9)


def test_drawn_randomization_comes_near_the_exact_one():
    rows = systems(2000, 4, 0.72, 0.70)
    result = load("approximate_randomization").compute(**rows, resamples=20_000)
    exact = load("mcnemar").compute(**rows, exact=True)["p"]
    assert not result["exact"]
    assert 0.01 < exact < 0.9
    assert result["p"] == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))


def test_randomization_of_a_function_agrees_with_scipy():
    rng = np.random.default_rng(5)
    true = rng.normal(size=10)
    first, other = true + rng.normal(0.3, 1, 10), true + rng.normal(0, 1, 10)
    theirs = stats.permutation_test(
        (np.abs(first - true), np.abs(other - true)),
        lambda a, b, axis: a.mean(axis) - b.mean(axis),
        permutation_type="samples",
        vectorized=True,
    )
    result = load("approximate_randomization").compute(
        predictions1=first, predictions2=other, references=true, metric=mean_error, resamples=1024, method="percentile"
    )
    assert result["exact"]
    assert result["p"] == pytest.approx(theirs.pvalue)


def test_the_bootstrap_p_value_counts_replicates_moved_to_no_difference():
    rows = systems(150, 6, 0.75, 0.68)
    right = [(rows[name] == rows["references"]).astype(float) for name in ("predictions1", "predictions2")]
    off = right[0] - right[1]
    drawn = np.random.default_rng(1).choice(off, (40_000, 150)).mean(1)
    expected = np.mean(np.abs(drawn - off.mean()) >= abs(off.mean()) - 1e-12)
    result = load("paired_bootstrap").compute(**rows, resamples=40_000)["p"]
    assert 0.01 < expected < 0.9
    assert result == pytest.approx(expected, abs=6 * np.sqrt(expected / 40_000))


@pytest.mark.release
@pytest.mark.parametrize(("name", "most"), [("paired_bootstrap", 0.085), ("approximate_randomization", 0.065)])
def test_equal_systems_are_rarely_found_to_differ(name, most):
    """600 data sets of 80 rows: at the level of 5%, at most 5% and what chance (and the bootstrap's haste) adds."""
    test = load(name, resamples=499, method="percentile")
    p = np.array([test.compute(**systems(80, seed, 0.6, 0.6))["p"] for seed in range(600)])
    assert (p <= 0.05).mean() <= most
    assert (p <= 0.05).any()
    assert abs((p <= 0.5).mean() - 0.45) < 0.1


@pytest.mark.parametrize("name", TESTS)
def test_a_large_difference_is_found(name):
    result = load(name).compute(**systems(300, 1, 0.9, 0.6))
    assert result["p"] < 0.001
    assert result["interval"]["difference"]["low"] > 0


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("metric", ["accuracy", "f1", mean_error])
def test_copies_of_a_system_never_differ(name, metric):
    rows = systems(40, 1, classes=2)
    rows["predictions2"] = rows["predictions1"].copy()
    result = load(name).compute(**rows, metric=metric, resamples=200)
    assert (result["difference"], result["p"]) == (0.0, 1.0)
    span = result["interval"]["difference"]
    assert (span["low"], span["high"], span["standard_error"]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", TESTS)
def test_swapping_the_systems_turns_the_difference_around(name):
    rows = systems(120, 7)
    turned = {**rows, "predictions1": rows["predictions2"], "predictions2": rows["predictions1"]}
    first, other = (load(name).compute(**values, method="percentile", resamples=20_000) for values in (rows, turned))
    assert first["difference"] == -other["difference"]
    assert first["p"] == pytest.approx(other["p"], abs=0.01)
    spans = [result["interval"]["difference"] for result in (first, other)]
    assert spans[0]["low"] == pytest.approx(-spans[1]["high"], abs=0.009)


# What is given


def test_weights_of_examples_are_used():
    rows = {"predictions1": [1, 0, 1], "predictions2": [0, 1, 1], "references": [1, 1, 1]}
    result = load("paired_bootstrap").compute(**rows, sample_weight=[2, 1, 1])
    assert (result["score1"], result["score2"]) == (0.75, 0.5)


def test_batches_and_a_loaded_metric_give_what_all_rows_give():
    rows = systems(60, 8)
    whole = load("paired_bootstrap").compute(**rows, metric="f1", metric_options={"average": "macro"})
    test = load("paired_bootstrap", metric=load("f1", average="macro"))
    for part in (slice(0, 20), slice(20, 60)):
        test.add_batch(**{name: column[part] for name, column in rows.items()})
    assert test.compute() == whole


def test_another_score_of_the_metric_can_be_compared():
    rows = systems(60, 8, classes=2)
    result = load("paired_bootstrap").compute(**rows, metric="f1", key="f1")
    assert result["score1"] == pytest.approx(f1_score(rows["references"], rows["predictions1"]))
    with pytest.raises(ValueError, match="f1 has no score 'accuracy'; choose as key one of f1"):
        load("paired_bootstrap").compute(**rows, metric="f1", key="accuracy")


def test_more_outcomes_than_resamples_of_a_function_are_drawn():
    rows = systems(40, 9, classes=2)
    result = load("approximate_randomization").compute(**rows, metric=mean_error, resamples=200)
    assert not result["exact"]
    assert result["p"] == pytest.approx(load("approximate_randomization").compute(**rows)["p"], abs=0.15)


class Rank(Metric):
    """A rank statistic whose column has another name."""

    card = replace(load("accuracy").card, outputs=(Output("rank", "", -1, 1, "higher"),))
    columns = MappingProxyType({"prediction_scores": Numbers(), "references": Numbers()})

    def update(self, prediction_scores, references):
        return Rows((prediction_scores, references))

    def formula(self, total):
        item = np.vectorize(lambda first, other: stats.spearmanr(first, other).statistic, signature="(n),(n)->()")
        return {"other": np.zeros(total[0].shape[:-1]), "rank": item(*total)}


def test_a_rank_statistic_is_compared_by_its_first_score():
    rng = np.random.default_rng(2)
    true = rng.normal(size=50)
    rows = {"predictions1": true + rng.normal(0, 0.5, 50), "predictions2": true + rng.normal(0, 3, 50)}
    result = load("paired_bootstrap").compute(**rows, references=true, metric=Rank(), resamples=300)
    scores = [stats.spearmanr(row, true).statistic for row in rows.values()]
    assert [result["score1"], result["score2"]] == pytest.approx(scores)
    assert result["p"] < 0.05
    assert result["interval"]["difference"]["low"] > 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"metric": "acuracy"}, ValueError, "did you mean accuracy"),
        ({"metric": "f1", "metric_options": {"averages": "macro"}}, TypeError, "averages"),
        ({"metric": mean_error, "key": "x"}, TypeError, "a function takes no options"),
        ({"metric": mean_error, "sample_weight": [1.0] * 30}, ValueError, "not sample_weight"),
        ({"sources": ["a"] * 30}, ValueError, "not sources"),
        ({"method": "normal"}, ValueError, "no method 'normal'"),
        ({"interval": 95}, ValueError, "between 0 and 1"),
        ({"resamples": 1}, ValueError, "two resamples"),
        ({"per_example": True}, ValueError, "no scores per example"),
        ({"trials": 5}, TypeError, "trials"),
    ],
)
def test_what_cannot_be_compared_is_told(options, error, message):
    with pytest.raises(error, match=message):
        load("paired_bootstrap").compute(**systems(30, 1, classes=2), **options)


def test_one_row_has_no_interval():
    with pytest.raises(ValueError, match="at least two examples"):
        load("paired_bootstrap").compute(predictions1=[1], predictions2=[0], references=[1])
