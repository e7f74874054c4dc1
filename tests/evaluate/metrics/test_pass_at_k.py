"""pass@k, against counting all ways of drawing k."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dynabench.evaluate import load
from dynabench.evaluate.metrics.code_eval import pass_at_k

COUNTS = st.integers(1, 9).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@pytest.mark.release
@settings(deadline=None)
@given(st.lists(COUNTS, min_size=1, max_size=5), st.integers(1, 4))
def test_the_estimate_is_the_share_of_draws_with_one_that_passes(counts, k):
    metric = load("pass_at_k")
    rows = {"correct": [c for _, c in counts], "total": [n for n, _ in counts]}
    if any(n < k for n, _ in counts):
        with pytest.raises(ValueError, match="give a smaller k"):
            metric.compute(**rows, k=k)
        return
    shares = [np.mean([min(draw) < c for draw in combinations(range(n), k)]) for n, c in counts]
    assert metric.compute(**rows, k=k) == pytest.approx({f"pass@{k}": np.mean(shares)})
    results = [[True] * c + [False] * (n - c) for n, c in counts]
    assert metric.compute(correct=results, k=[k]) == pytest.approx({f"pass@{k}": np.mean(shares)})


def test_large_counts_keep_their_precision():
    result = float(pass_at_k(200, 3, 100))
    assert result == pytest.approx(1 - comb(197, 100) / comb(200, 100), rel=1e-12)
    assert pass_at_k(100_000, 1, 1) == pytest.approx(1e-5, rel=1e-9)


def test_a_k_that_some_problem_has_too_few_attempts_for_is_left_out():
    result = load("pass_at_k").compute(correct=[1, 2], total=[9, 100])
    assert set(result) == {"pass@1"}
    assert set(load("pass_at_k").compute(correct=[1, 2], total=[10, 100])) == {"pass@1", "pass@10"}


def test_batches_merge_to_the_whole_even_where_one_has_too_few_attempts():
    metric = load("pass_at_k")
    parts = [metric.state({"correct": [1, 2], "total": [2, n]}, k=[1, 2, 5]) for n in (5, 4)]
    whole = metric.compute(correct=[1, 2, 1, 2], total=[2, 5, 2, 4], k=[1, 2, 5])
    assert metric.result(metric.merge(*parts), k=[1, 2, 5]) == pytest.approx(whole)
    assert set(whole) == {"pass@1", "pass@2"}


def test_the_interval_is_over_problems_as_in_scipy():
    rng = np.random.default_rng(7)
    correct = rng.integers(0, 21, 60)
    result = load("pass_at_k").compute(
        correct=correct, total=[20] * 60, k=5, interval=0.9, resamples=4000, per_example=True
    )
    item = result["per_example"]["pass@5"]
    answer = stats.bootstrap((item,), np.mean, confidence_level=0.9, n_resamples=4000, rng=np.random.default_rng(1))
    width = answer.confidence_interval.high - answer.confidence_interval.low
    assert result["interval"]["pass@5"]["low"] == pytest.approx(answer.confidence_interval.low, abs=0.06 * width)
    assert result["interval"]["pass@5"]["high"] == pytest.approx(answer.confidence_interval.high, abs=0.06 * width)


@pytest.mark.parametrize(
    ("correct", "total", "words"),
    [
        ([1], None, "say in total"),
        ([3], [2], "3 of 2 passed"),
        ([0], [0], "0 of 0 passed"),
        ([1], [2.5], "1 of 2.5 passed"),
        ([-1], [2], "row 0 is -1"),
        ([0.5], [2], "row 0 is 0.5"),
        ([True], [2], "row 0 is True"),
        ([None], [2], "row 0 is None"),
        ([[]], None, r"row 0 is \[\]"),
        ([[2, 0]], None, "True or False of each"),
        ([[True]], [3], "says 3, but correct lists 1"),
    ],
)
def test_counts_that_cannot_be_are_refused(correct, total, words):
    with pytest.raises(ValueError, match=words):
        load("pass_at_k").compute(correct=correct, total=total)


@pytest.mark.parametrize("k", [0, [1, -2], 1.5, [], "1"])
def test_a_k_that_is_no_number_of_attempts_is_refused(k):
    with pytest.raises(ValueError, match="whole numbers from 1"):
        load("pass_at_k").compute(correct=[1], total=[2], k=k)
