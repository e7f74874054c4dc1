"""Samples of rows that belong to a data set."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from dynabench.stats import bootstrap
from dynabench.stats.bootstrap import cost_replicates, kind_counts, mean_replicates, row_draws


def rows(digest, n, times):
    """Numbers of rows, shape (times, n)."""
    return np.array(list(chain.from_iterable(row_draws(digest, n, times))))


def test_the_numbers_of_a_digest_never_change():
    """Stored replicates of old evaluations stay paired with new ones only as long as this holds."""
    assert rows("ab" * 32, 10, 2).tolist() == [[9, 8, 8, 2, 2, 7, 1, 1, 9, 2], [5, 1, 0, 4, 4, 9, 3, 8, 9, 1]]


@given(st.text(max_size=8), st.integers(1, 40), st.integers(1, 30), st.integers(0, 30), st.integers(1, 500))
def test_samples_are_the_same_however_many_and_however_large_the_blocks(digest, n, times, more, block):
    few, many = rows(digest, n, times), rows(digest, n, times + more)
    assert few.shape == (times, n)
    assert few.min() >= 0
    assert few.max() < n
    assert np.array_equal(few, many[:times])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "BLOCK", block)
        assert np.array_equal(rows(digest, n, times), few)


def test_rows_are_drawn_evenly_and_independently():
    drawn = rows("x", 9, 9000)
    assert chisquare(np.bincount(drawn.ravel())).pvalue > 1e-4
    pairs = drawn[:, 1:8:2] * 9 + drawn[:, :8:2]  # the two numbers of one word of random bits
    assert chisquare(np.bincount(pairs.ravel(), minlength=81)).pvalue > 1e-4
    assert chisquare(np.bincount((drawn[1:, 0] * 9 + drawn[:-1, 0]), minlength=81)).pvalue > 1e-4


def test_digests_are_independent():
    assert not np.array_equal(rows("a", 50, 3), rows("b", 50, 3))


@given(st.lists(st.sampled_from([0.0, 1.0, 0.25, -3.5, 1e6]) | st.floats(-1e3, 1e3), min_size=1, max_size=40))
def test_means_are_those_of_the_rows_drawn(values):
    expected = np.array(values)[rows("d", len(values), 20)].mean(1)
    assert mean_replicates(values, "d", 20) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_means_of_many_rows_are_normal_with_the_standard_error():
    values = np.random.default_rng(0).normal(5, 2, 2000)
    result = (mean_replicates(values, "d", 2000) - values.mean()) / (values.std() / np.sqrt(2000))
    assert kstest(result, "norm").pvalue > 1e-3


@pytest.mark.parametrize("size", [1, 2, 3, 6, 7, 40])
def test_counts_are_those_of_the_rows_drawn(size):
    kinds = np.random.default_rng(size).integers(0, size, 7)
    expected = [np.bincount(kinds[sample], minlength=size) for sample in rows("d", 7, 9)]
    assert np.array_equal(list(kind_counts("d", kinds, size, 9)), expected)


@pytest.mark.parametrize("values", [[], [1.0, np.nan], [np.inf], [[1.0], [2.0]]])
def test_what_has_no_mean_is_refused(values):
    with pytest.raises(ValueError, match="replicates"):
        mean_replicates(values, "d")


def test_constant_rows_have_constant_replicates():
    assert set(mean_replicates(np.full(30, 0.1), "d", 50).round(15)) == {0.1}


def test_costs_vary_as_their_repeats_do():
    repeats = [9.0, 10.0, 11.0]
    item, other = (cost_replicates(repeats, key, 4000) for key in ("x", "y"))
    assert kstest((item - 10) / 1.0, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(item, other)[0, 1]) < 0.06
    assert np.array_equal(cost_replicates(repeats, "x", 4000), item)
    assert cost_replicates([200.0, 6000.0, 3000.0], "x", 4000).min() == 0.0, (
        "no model answers less than nothing a second"
    )
    assert set(cost_replicates([5.0], "x", 9)) == set(cost_replicates([5.0, 5.0], "x", 9)) == {5.0}
    for wrong in ([], [np.nan], [[1.0]]):
        with pytest.raises(ValueError, match="measurement"):
            cost_replicates(wrong, "x")
