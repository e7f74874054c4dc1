"""Rows of two systems that change places, against all ways to do so."""

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from dynabench.evaluate.confusion import Cells
from dynabench.evaluate.paired_states import find_swaps
from dynabench.evaluate.states import Rows, Sums
from tests.evaluate.states_of import KINDS, state, statistic


def all_ways(first, second):
    """The statistics of both systems in each of the 2^n ways to swap, by building each from the pool's rows."""
    pool, n = first + second, len(first)
    ways = []
    for coins in itertools.product((0, 1), repeat=n):
        rows = np.arange(n) + n * np.array(coins)
        ways.append(tuple(float(statistic(pool.at(part[None]))[0]) for part in (rows, (rows + n) % (2 * n))))
    return ways


def swapped_totals(first, second, rng, times):
    """Totals of both systems after each row was swapped with probability 1/2, in blocks."""
    both = find_swaps(first, second)
    for numbers in both.drawn(rng, times):
        yield both.totals(numbers)


def rounded(pairs):
    return [(round(first, 9) + 0.0, round(other, 9) + 0.0) for first, other in pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_all_ways_are_those_of_coins_thrown_for_each_row(kind):
    first, second = state(kind, 7, 1), state(kind, 7, 2)
    expected = Counter(rounded(all_ways(first, second)))
    both, counter = find_swaps(first, second), Counter()
    for numbers, chance in both.all():
        single, other = (statistic(total) for total in both.totals(numbers))
        for pair, share in zip(rounded(zip(single, other, strict=True)), chance, strict=True):
            counter[pair] += share
    assert both.ways <= 2**7
    assert {pair: share * 2**7 for pair, share in counter.items()} == pytest.approx(dict(expected))


@pytest.mark.parametrize("kind", KINDS)
def test_drawn_swaps_come_as_often_as_they_should(kind):
    first, second = state(kind, 4, 1), state(kind, 4, 2)
    expected = Counter(rounded(all_ways(first, second)))
    counter = Counter()
    for single, other in swapped_totals(first, second, np.random.default_rng(0), 8000):
        counter.update(rounded(zip(statistic(single), statistic(other), strict=True)))
    assert set(counter) == set(expected)
    if len(expected) > 1:
        keys = sorted(expected)
        assert chisquare([counter[key] for key in keys], [500 * expected[key] for key in keys]).pvalue > 1e-3


@given(st.sampled_from(KINDS), st.integers(1, 20), st.integers(0, 2**32))
def test_copies_of_a_system_swap_without_a_trace(kind, n, seed):
    single = state(kind, n, seed % 1000)
    assert find_swaps(single, single).ways == 1
    for first, second in swapped_totals(single, single, np.random.default_rng(seed), 5):
        assert np.array_equal(statistic(first), statistic(second))


def test_only_rows_that_differ_are_counted():
    first = Sums(np.array([True] * 900 + [False] * 100))
    second = Sums(np.array([True] * 897 + [False] * 100 + [True] * 3))
    assert find_swaps(first, second).ways == 4 * 4
    texts = Rows((np.array([["a"], ["b"], []], object), np.arange(3)))
    others = Rows((np.array([["a"], ["c"], []], object), np.arange(3)))
    assert find_swaps(texts, others).ways == 2


def test_systems_with_different_labels_get_all_of_them():
    first = Cells.of([*"aab"], [*"aac"])
    second = Cells.of([*"aab"], [*"abb"])
    single, other = next(iter(swapped_totals(first, second, np.random.default_rng(0), 3)))
    assert single.labels == other.labels == ("a", "b", "c")
    assert single.counts.shape == (3, 3, 3)
    assert (single.counts + other.counts == single.counts[0] + other.counts[0]).all()


def test_states_of_different_rows_are_refused():
    with pytest.raises(ValueError, match="one number of rows"):
        find_swaps(Sums(np.ones(3)), Sums(np.ones(4)))
