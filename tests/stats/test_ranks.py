"""Rank intervals: do they cover, are ties ties, and what happens to models that cannot be ranked."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtri
from scipy.stats import norm

from dynabench.stats.bootstrap import mean_replicates
from dynabench.stats.ranks import RankInterval, rank_intervals, weighted_replicates


def sampled(right, seed, times):
    """Paired replicates (times, M) of the means of rows (n, M)."""
    n = len(right)
    rows = np.random.default_rng(seed).integers(0, n, (times, n)) + np.arange(times)[:, None] * n
    counts = np.bincount(rows.ravel(), minlength=times * n).reshape(times, n)
    return counts.astype(np.float32) @ right.astype(np.float32) / n


def true_ranks(skills):
    return [(1 + sum(o > s for o in skills), len(skills) - sum(o < s for o in skills)) for s in skills]


def coverage(skills, rows, repetitions, level=0.95, times=250):
    """The share of simulated boards on which every interval has every place its model may claim."""
    rng = np.random.default_rng(len(skills))
    hits = 0
    for seed in range(repetitions):
        ease = 0.8 * rng.normal(size=(rows, 1)) + 0.6 * rng.normal(size=(rows, len(skills)))
        right = ease < ndtri(skills)
        result = rank_intervals(right.mean(0), sampled(right, seed, times), level)
        hits += all(
            item.low <= low and high <= item.high for item, (low, high) in zip(result, true_ranks(skills), strict=True)
        )
    return hits / repetitions


def at_least(level, repetitions):
    """The share below which one run in 30,000 falls where the level is kept."""
    return level - 4 * np.sqrt(level * (1 - level) / repetitions)


BOARDS = {
    "3 tied": ([0.8, 0.8, 0.8], 500),
    "2 tied, 1 apart": ([0.8, 0.8, 0.7], 500),
    "3 near ties": ([0.8, 0.803, 0.78], 500),
    "50 tied": ([0.8] * 50, 300),
    "50 near ties": ([0.75 + 0.001 * place for place in range(50)], 150),
    "5 groups of 10": ([0.5 + 0.1 * (place // 10) for place in range(50)], 150),
}


@pytest.mark.release
@pytest.mark.parametrize("share", [5, pytest.param(1, marks=pytest.mark.slow)], ids=["few", "all"])
@pytest.mark.parametrize("board", BOARDS)
def test_intervals_cover_all_true_ranks_at_their_level(board, share):
    skills, repetitions = BOARDS[board]
    assert coverage(skills, 200, repetitions // share) >= at_least(0.95, repetitions // share)


def test_intervals_are_no_wider_than_their_level_asks_for():
    """With all models tied, any claim is an error: about one board in five may have one at 80 %."""
    assert at_least(0.8, 200) <= coverage([0.8] * 3, 200, 200, level=0.8) <= 0.88
    assert coverage([0.8] * 50, 200, 50, level=0.5) <= 0.7


def test_intervals_separate_what_is_apart():
    rng = np.random.default_rng(0)
    right = rng.random((2000, 5)) < [0.5, 0.6, 0.7, 0.8, 0.9]
    result = rank_intervals(right.mean(0), sampled(right, 0, 1000))
    assert result == [RankInterval(5 - place, 5 - place, 5 - place) for place in range(5)]
    assert [str(item) for item in result] == list("54321")


def test_what_the_data_do_not_say_stays_open():
    rng = np.random.default_rng(1)
    right = rng.random((400, 4)) < [0.8, 0.8, 0.8, 0.4]
    result = rank_intervals(right.mean(0), sampled(right, 0, 1000))
    assert [str(item) for item in result] == ["1-3", "1-3", "1-3", "4"]
    assert [item.group for item in result] == [1, 1, 1, 2]


def test_stepping_down_claims_what_one_step_does():
    """Against the definition: one-sided claims about ordered pairs, rejected step by step, written out."""
    rng = np.random.default_rng(5)
    gained = 0
    for _ in range(60):
        right = rng.random((150, 5)) < np.array([0.02, 0.2, 0.4, 0.57, 0.77])
        draws, values = sampled(right, rng.integers(1000), 400), right.mean(0)
        claims, first = stepwise(values, draws)
        result = rank_intervals(values, draws)
        for model, item in enumerate(result):
            assert item.low == 1 + sum(worse == model for _, worse in claims)
            assert item.high == 5 - sum(better == model for better, _ in claims)
        gained += len(claims) - len(first)
    assert gained > 0


def stepwise(values, drawn, level=0.95):
    """Pairs (better, worse) after all steps, and after the first."""
    drawn = drawn.astype(float)
    off = drawn - drawn.mean(0)
    error = {
        (i, j): (drawn[:, i] - drawn[:, j]).std(ddof=1)
        for i, j in itertools.permutations(range(len(values)), 2)
        if not np.array_equal(drawn[:, i], drawn[:, j])
    }
    sure, leave_one_out, steps = 1 + 1 / np.sqrt(2 * (len(drawn) - 1)), set(error), []
    claims = set()
    while leave_one_out:
        largest = np.sort(np.max([(off[:, i] - off[:, j]) / error[i, j] for i, j in leave_one_out], axis=0))
        limit = largest[int(np.ceil(level * (len(drawn) + 1))) - 1]
        new = {(i, j) for i, j in leave_one_out if (values[i] - values[j]) / error[i, j] / sure > limit}
        if not new:
            break
        claims |= new
        leave_one_out -= new
        steps.append(set(claims))
    return claims, steps[0] if steps else set()


boards = st.integers(1, 7).flatmap(
    lambda models: arrays(bool, st.tuples(st.integers(2, 30), st.just(models)), elements=st.booleans())
)


@given(boards, st.integers(0, 2**32), st.data())
def test_copies_tie_on_every_board(right, seed, data):
    model = data.draw(st.integers(0, right.shape[1] - 1))
    place = data.draw(st.integers(0, right.shape[1]))
    right = np.insert(right, place, right[:, model], axis=1)
    result = rank_intervals(right.mean(0), sampled(right, seed, 60))
    assert result[place] == result[model + (place <= model)]


@pytest.mark.release
@given(boards, st.integers(0, 2**32))
def test_intervals_are_consistent(right, seed):
    values = right.mean(0)
    result = rank_intervals(values, sampled(right, seed, 60))
    count = right.shape[1]
    for place, item in enumerate(result):
        above, below = int((values > values[place]).sum()), int((values < values[place]).sum())
        assert 1 <= item.low <= 1 + above <= count - below <= item.high <= count
    assert {item.group for item in result} == set(range(1, max(item.group for item in result) + 1))
    ordered = [result[place].group for place in np.argsort(-values, kind="stable")]
    assert max(ordered[:1]) == 1
    order = np.random.default_rng(seed).permutation(count)
    mixed = rank_intervals(values[order], sampled(right[:, order], seed, 60))
    assert [(result[place].low, result[place].high) for place in order] == [(item.low, item.high) for item in mixed]


def test_a_difference_without_variance_separates_unless_it_is_0():
    draws = mean_replicates(np.random.default_rng(0).normal(size=50), "x", 200)
    moved = np.stack([draws, draws + 0.25, draws], 1)
    result = rank_intervals([1.0, 1.25, 1.0], moved)
    assert [str(item) for item in result] == ["2-3", "1", "2-3"]
    single = rank_intervals([1.0, 1.25, 1.0], moved.astype(np.float32))
    assert single == result
    constant = rank_intervals([1.0, 2.0, 2.0, 3.0], np.tile([1.0, 2.0, 2.0, 3.0], (9, 1)))
    assert [str(item) for item in constant] == ["4", "2-3", "2-3", "1"]
    assert [item.group for item in constant] == [3, 2, 2, 1]


def test_copies_beside_a_tied_other_stay_in_one_group():
    """The other has the copies' value and clearly is below the best; copies are not, as they vary more."""
    rng = np.random.default_rng(3)
    best = rng.normal(size=1000)
    wide, narrow = best + rng.normal(size=1000) * 5, best + rng.normal(size=1000) * 0.01
    result = rank_intervals([1.0, 0.0, 0.0, 0.0], np.stack([best, wide, narrow, wide], 1))
    assert result[1] == result[3]
    assert result[2].low == 2


def test_models_that_cannot_be_ranked_are_told_why_and_count_nowhere():
    rng = np.random.default_rng(0)
    draws = rng.normal([0, 1, 2, 3, 4], 0.01, (200, 5))
    draws[:30, 3] = np.nan
    values = [0.0, np.nan, 2.0, 3.0, 4.0]
    result = rank_intervals(values, draws)
    assert [str(item) for item in result] == ["3", "", "2", "", "1"]
    assert result[1] == RankInterval(None, None, None, "no score")
    assert result[3] == RankInterval(None, None, None, "its score is not defined in 30 of 200 samples")


def test_samples_in_which_nobody_has_a_score_are_left_out():
    draws = np.random.default_rng(0).normal([0, 1, 2], 0.01, (200, 3))
    whole = rank_intervals([0, 1, 2], draws)
    draws[5] = np.nan
    draws[9] = np.inf
    assert rank_intervals([0, 1, 2], draws) == whole


def test_one_model_is_first_and_none_have_no_ranks():
    assert rank_intervals([0.5], np.random.default_rng(0).random((100, 1))) == [RankInterval(1, 1, 1)]
    assert rank_intervals([], np.zeros((100, 0))) == []
    assert rank_intervals([np.nan], np.ones((100, 1))) == [RankInterval(None, None, None, "no score")]


@pytest.mark.parametrize("times", [2, 10, 18])
def test_too_few_samples_claim_nothing(times):
    """With 18 samples no quantile of the largest of them reaches 95 %."""
    draws = np.random.default_rng(0).normal([0, 1, 2], 0.01, (times, 3))
    assert [str(item) for item in rank_intervals([0, 1, 2], draws)] == ["1-3"] * 3


@pytest.mark.parametrize(
    ("values", "replicates", "level"),
    [
        ([1, 2], np.ones((9, 3)), 0.95),
        ([[1]], np.ones((9, 1)), 0.95),
        ([1], np.ones(9), 0.95),
        ([1], np.ones((9, 1)), 1),
    ],
)
def test_what_does_not_fit_is_refused(values, replicates, level):
    with pytest.raises(ValueError, match=r"replicates|level"):
        rank_intervals(values, replicates, level)


def test_limits_of_two_models_are_those_of_the_z_test():
    """A difference of 2.4 standard errors is a claim at 98 %, one of 2.1 is none, where 2.33 separates them."""
    noise = np.random.default_rng(0).normal(size=(40_000, 2)) / np.sqrt(2)
    limit = norm.ppf(0.99)
    for ratio in (limit * 0.97, limit * 1.06):
        result = rank_intervals([ratio, 0.0], noise, 0.98)
        assert result[0].high == (1 if ratio > limit * 1.03 else 2)


# Scores of many metrics on many data sets


@given(
    arrays(np.float32, (6, 3, 2, 4), elements=st.floats(-8, 8, width=16)),
    arrays(float, (2, 4), elements=st.integers(-4, 4).map(float)),
)
def test_replicates_of_a_board_are_weighted_sums(replicates, coefficients):
    expected = np.tensordot(replicates.astype(float), coefficients, 2)
    assert weighted_replicates(replicates, coefficients) == pytest.approx(expected, abs=1e-9)
    stored = np.ascontiguousarray(replicates.transpose(2, 3, 1, 0)).transpose(3, 2, 0, 1)
    assert np.array_equal(weighted_replicates(stored, coefficients), weighted_replicates(replicates, coefficients))


def test_what_weighs_nothing_may_be_undefined():
    replicates = np.ones((5, 3, 2, 1), np.float32)
    replicates[:, :, 1] = np.nan
    assert np.array_equal(weighted_replicates(replicates, [[2.0], [0.0]]), np.full((5, 3), 2.0))


def test_copies_have_equal_board_replicates_to_the_last_bit():
    rng = np.random.default_rng(0)
    replicates = rng.random((50, 33, 3, 7)).astype(np.float32)
    replicates[:, 32] = replicates[:, 5]
    result = weighted_replicates(replicates, rng.random((3, 7)))
    assert np.array_equal(result[:, 32], result[:, 5])


def test_coefficients_of_another_board_are_refused():
    with pytest.raises(ValueError, match="coefficient"):
        weighted_replicates(np.ones((5, 3, 2, 1)), [[1.0]])
    with pytest.raises(ValueError, match="coefficient"):
        weighted_replicates(np.ones((5, 3)), [[1.0]])
