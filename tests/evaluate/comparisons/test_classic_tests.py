"""McNemar's and Wilcoxon's tests and exact match, against statsmodels, scipy and all permutations."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from dynabench.evaluate import load
from tests.evaluate import real


def table(first_only, second_only, both=3, none=2):
    """Columns in which so many rows are right by the first system only, the second only, both, none."""
    right = [(1, 0)] * first_only + [(0, 1)] * second_only + [(1, 1)] * both + [(0, 0)] * none
    first, other = (list(column) for column in zip(*right, strict=True))
    return {"predictions1": first, "predictions2": other, "references": [1] * len(right)}


# McNemar


@pytest.mark.parametrize("options", [{}, {"exact": True}, {"correction": True}])
@given(first=st.integers(0, 60), second=st.integers(0, 60))
def test_mcnemar_agrees_with_statsmodels(options, first, second):
    assume(first + second > 0)
    assume(first != second or "correction" not in options)
    theirs = statsmodels_mcnemar([[3, first], [second, 2]], **{"exact": False, "correction": False, **options})
    result = load("mcnemar").compute(**table(first, second), **options)
    assert result == {"stat": pytest.approx(theirs.statistic), "p": pytest.approx(theirs.pvalue, rel=1e-9)}


@pytest.mark.parametrize("options", [{}, {"exact": True}, {"correction": True}])
def test_systems_that_are_right_on_the_same_examples_do_not_differ(options):
    assert load("mcnemar").compute(**table(0, 0), **options) == {"stat": 0.0, "p": 1.0}


@pytest.mark.parametrize("options", [{}, {"exact": True}, {"correction": True}])
def test_systems_that_err_equally_often_do_not_differ(options):
    assert load("mcnemar").compute(**table(5, 5), **options)["p"] == 1.0


def test_mcnemar_takes_texts_and_more_than_two_classes():
    answer = {"predictions1": [*"abcab"], "predictions2": [*"abbba"], "references": [*"abcac"]}
    assert load("mcnemar").compute(**answer, exact=True) == {"stat": 0.0, "p": 0.5}


def test_mcnemar_of_two_keyword_systems_on_film_reviews_agrees_with_statsmodels():
    rows = real.rows("sst2/test.jsonl.gz")
    words = [set(row["text"].split()) for row in rows]
    systems = [
        ["negative" if bad & some else "positive" for some in words]
        for bad in ({"no", "not", "never", "too"}, {"not", "bad", "dull", "worst", "n't"})
    ]
    true = [row["label"] for row in rows]
    right = [[answer == label for answer, label in zip(system, true, strict=True)] for system in systems]
    cells = [[sum((a, b) == pair for a, b in zip(*right, strict=True)) for pair in row] for row in CELLS]
    result = load("mcnemar").compute(predictions1=systems[0], predictions2=systems[1], references=true, exact=True)
    assert sum(map(sum, cells)) == 872
    assert result["p"] == pytest.approx(statsmodels_mcnemar(cells, exact=True).pvalue)


CELLS = [[(True, True), (True, False)], [(False, True), (False, False)]]


# Wilcoxon


def wilcoxon(differences, **options):
    return load("wilcoxon").compute(predictions1=differences, predictions2=np.zeros(len(differences)), **options)


samples = st.lists(st.integers(-9, 9) | st.floats(-5, 5).map(lambda x: round(x, 2)), min_size=1, max_size=40)


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt", "zsplit"])
@given(differences=samples)
def test_the_normal_approximation_agrees_with_scipy(zero_method, differences):
    assume(any(differences))
    theirs = stats.wilcoxon(differences, zero_method=zero_method, method="asymptotic")
    result = wilcoxon(differences, zero_method=zero_method, exact=False)
    assert result["stat"] == pytest.approx(theirs.statistic)
    assert result["p"] == pytest.approx(theirs.pvalue)


@pytest.mark.release
@given(differences=samples)
@settings(deadline=None, max_examples=25)
def test_by_default_the_result_is_the_originals(differences):
    assume(any(differences))
    theirs = stats.wilcoxon(differences)
    assert wilcoxon(differences) == {"stat": pytest.approx(theirs.statistic), "p": pytest.approx(theirs.pvalue)}


@pytest.mark.parametrize("zero_method", ["wilcox", "pratt", "zsplit"])
@given(differences=st.lists(st.integers(-4, 4), min_size=1, max_size=9))
def test_the_exact_test_agrees_with_all_signs(zero_method, differences):
    assume(any(differences))
    sizes = np.abs(differences)
    ranks = stats.rankdata(sizes[sizes > 0]) if zero_method == "wilcox" else stats.rankdata(sizes)[sizes > 0]
    signs = np.array(list(itertools.product((0, 1), repeat=len(ranks))))
    sums, seen = signs @ ranks, ranks[np.array([d for d in differences if d]) > 0].sum()
    expected = min(2 * min((sums <= seen).mean(), (sums >= seen).mean()), 1)
    assert wilcoxon(differences, zero_method=zero_method, exact=True)["p"] == pytest.approx(expected)


def test_the_correction_moves_the_normal_approximation_as_scipys_does():
    differences = np.round(np.random.default_rng(0).normal(0.2, 1, 80), 2)
    theirs = stats.wilcoxon(differences, correction=True, method="asymptotic")
    assert wilcoxon(differences, correction=True)["p"] == pytest.approx(theirs.pvalue)


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_systems_that_are_the_same_have_no_difference(n):
    for options in ({}, {"exact": True}, {"zero_method": "pratt"}, {"zero_method": "zsplit", "exact": False}):
        assert wilcoxon([0.0] * n, **options) == {"stat": 0.0, "p": 1.0}


def test_what_wilcoxon_cannot_do_is_told():
    with pytest.raises(ValueError, match="no zero_method 'drop'"):
        wilcoxon([1.0, 2.0], zero_method="drop")
    with pytest.raises(ValueError, match="up to 500"):
        wilcoxon(np.arange(1.0, 502.0), exact=True)


# All


@pytest.mark.parametrize("name", ["mcnemar", "wilcoxon"])
def test_a_test_has_no_scores_per_example_and_no_interval(name):
    columns = table(2, 3)
    if name == "wilcoxon":
        columns.pop("references")
    with pytest.raises(ValueError, match="no scores per example"):
        load(name).compute(**columns, per_example=True)
    with pytest.raises(ValueError, match="no interval"):
        load(name).compute(**columns, interval=0.95)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1))
def test_exact_match_is_the_share_of_equal_rows(rows):
    first, other = (list(column) for column in zip(*rows, strict=True))
    result = load("exact_match", module_type="comparison").compute(
        predictions1=first, predictions2=other, per_example=True
    )
    assert result["exact_match"] == pytest.approx(np.mean(np.array(first) == other))
    assert result["per_example"]["exact_match"] == [float(a == b) for a, b in rows]
