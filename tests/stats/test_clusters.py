"""Differences between groups whose rows come in clusters."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from dynabench.stats.clusters import difference, ratio


def test_clusters_in_one_group_alone_agree_with_a_mean_of_independent_ones():
    """One row per cluster: the jackknife's variance of a mean is the textbook's, up to the number of clusters."""
    first, second = np.array([3.0, 5, 4, 8]), np.array([1.0, 2, 2, 4, 1])
    none = np.zeros
    result = difference(
        np.r_[first, none(5)], np.r_[np.ones(4), none(5)], np.r_[none(4), second], np.r_[none(4), np.ones(5)]
    )
    assert result.value == pytest.approx(first.mean() - second.mean())
    textbook = np.sqrt(first.var(ddof=1) / 4 + second.var(ddof=1) / 5)
    assert (result.high - result.low) / 2 == pytest.approx(3.1824 * textbook, rel=0.15)
    assert 0 < result.p < 0.2


def test_a_paired_difference_is_that_of_the_pairs():
    """Everybody is in both groups with one row each: the test is Student's for pairs."""
    from scipy.stats import ttest_rel

    first, second = np.array([3.0, 5, 4, 8, 6]), np.array([2.0, 5, 2, 6, 3])
    result, ones = difference(first, np.ones(5), second, np.ones(5)), ttest_rel(first, second)
    assert result.p == pytest.approx(ones.pvalue)
    assert (result.low, result.high) == pytest.approx(tuple(ones.confidence_interval()))


def test_examples_of_few_people_say_less_than_as_many_of_many():
    few = difference([90, 40], [100, 100], [0, 0], [0, 0])
    assert few.value is None
    assert difference([90, 0], [100, 0], [0, 40], [0, 100]).p is None
    many = difference(
        [9, 8, 9, 10, 9, 0, 0, 0, 0, 0], [10] * 5 + [0] * 5, [0] * 5 + [4, 3, 5, 4, 4], [0] * 5 + [10] * 5
    )
    assert many.p < 0.001
    assert many.low < many.value < many.high


def test_the_size_of_the_test_is_near_its_level_when_people_differ():
    """Two arms without any difference, people with rates of their own: about 5 in 100 tests find one."""
    rng = np.random.default_rng(5)
    result = 0
    for _ in range(400):
        rates = rng.beta(2, 2, 24)
        n = rng.integers(3, 20, 24)
        k = rng.binomial(n, rates)
        arm = np.arange(24) < 12
        result += difference(k * arm, n * arm, k * ~arm, n * ~arm).p < 0.05
    assert 8 <= result <= 34


counts = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)), max_size=8)


@given(counts)
def test_a_difference_turned_round_has_the_other_sign(rows):
    table = np.array(rows, float).reshape(-1, 4)
    k1, n1, k2, n2 = table[:, 0], table[:, 0] + table[:, 1], table[:, 2], table[:, 2] + table[:, 3]
    forward, backward = difference(k1, n1, k2, n2), difference(k2, n2, k1, n1)
    assert (forward.value is None) == (n1.sum() == 0 or n2.sum() == 0)
    if forward.value is not None:
        assert forward.value == pytest.approx(-backward.value)
        assert (forward.p is None) == (backward.p is None)
    if forward.p is not None:
        assert forward.p == pytest.approx(backward.p)
        assert forward.low == pytest.approx(-backward.high)


sides = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=8, max_size=8)


@given(sides, sides, st.integers(1, 8), st.sampled_from([0.5, 0.9, 0.95]))
def test_intervals_are_those_of_leaving_out_one_cluster_at_a_time(first, second, clusters, level):
    """The jackknife as its definition says it, in fractions."""
    rows = [(*one_side, *other_side) for one_side, other_side in zip(first[:clusters], second[:clusters], strict=True)]
    result = difference(*(list(column) for column in zip(*rows, strict=True)), level=level)

    def rates_without(cluster):
        k1, n1, k2, n2 = (sum(row[i] for at, row in enumerate(rows) if at != cluster) for i in range(4))
        return (Fraction(k1, n1) if n1 else None), (Fraction(k2, n2) if n2 else None)

    whole = rates_without(None)
    if None in whole:
        assert result.value is None
        return
    assert result.value == pytest.approx(float(whole[0] - whole[1]))
    moved = [
        [0 if part is None else all_ - part for all_, part in zip(whole, rates_without(at), strict=True)]
        for at in range(clusters)
    ]
    used = sum(row[1] > 0 or row[3] > 0 for row in rows)
    error = float(Fraction(used - 1, used) * sum((change1 - change2) ** 2 for change1, change2 in moved)) ** 0.5
    freedom = min(sum(row[1] > 0 for row in rows), sum(row[3] > 0 for row in rows)) - 1
    if freedom < 1 or error < 1e-9:
        assert (result.low, result.high, result.p) == (None, None, None)
        return
    half = t.ppf(0.5 + level / 2, freedom) * error
    assert (result.low, result.high) == pytest.approx((result.value - half, result.value + half))
    assert result.p == pytest.approx(2 * t.sf(abs(result.value) / error, freedom))


def test_a_ratio_has_the_interval_of_the_mean_where_each_cluster_has_one_row():
    seconds = np.array([3.0, 5, 4, 8])
    for level, given_level in ((0.95, {}), (0.8, {"level": 0.8})):
        result = ratio(seconds, np.ones(4), **given_level)
        half = t.ppf(0.5 + level / 2, 3) * np.sqrt(seconds.var(ddof=1) / 4)
        assert (result.low, result.high) == pytest.approx((5 - half, 5 + half))


def test_a_ratio_of_one_cluster_has_no_interval():
    assert ratio([30.0], [3]).low is None
    assert ratio([], []).value is None
    with pytest.raises(ValueError, match="one shape"):
        ratio([1.0], [1, 2])


@pytest.mark.parametrize("turned", [False, True])
def test_an_interval_has_the_degrees_of_freedom_of_the_smaller_arm(turned):
    """Three people in one arm and thirty in the other: Student's t with 2 degrees of freedom, whatever the spread.

    The ratio of two intervals' widths tells the degrees of freedom without the standard error.
    """
    rng = np.random.default_rng(4)
    k, n = rng.integers(2, 9, 33).astype(float), np.full(33, 10.0)
    few = np.arange(33) < 3
    arms = [k * few, n * few, k * ~few, n * ~few]
    wide, narrow = (difference(*(arms[2:] + arms[:2] if turned else arms), level=level) for level in (0.99, 0.5))
    ratio_of_widths = (wide.high - wide.low) / (narrow.high - narrow.low)
    assert ratio_of_widths == pytest.approx(t.ppf(0.995, 2) / t.ppf(0.75, 2))
