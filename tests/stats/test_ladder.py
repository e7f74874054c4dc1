"""The ladder against its paper: never worse, few releases, and no reward for fitting the hidden rows by chance."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import t as student

from dynabench.stats.ladder import ShownScore, ladder_scores, parameter_free_ladder_scores

histories = st.lists(st.floats(0, 1) | st.just(math.nan), max_size=40)


@settings(max_examples=25)
@given(histories, st.floats(1e-3, 0.5), st.sampled_from([1, -1]))
def test_what_is_shown_only_improves_and_by_steps(values, step, direction):
    result = ladder_scores(values, step, direction)
    view = [item.value for item in result if item.value is not None]
    assert all(after == before or direction * (after - before) >= step * (1 - 1e-9) for before, after in pairwise(view))
    assert sum(item.new for item in result) <= 1 / step + 2
    for place, item in enumerate(result):
        if item.new:
            assert item.best == place
            assert abs(item.value - values[place]) <= step / 2 * (1 + 1e-9)
        elif place:
            assert (item.value, item.best) == (result[place - 1].value, result[place - 1].best)


@settings(max_examples=25)
@given(histories, st.floats(1e-3, 0.5))
def test_what_is_shown_is_near_the_best_so_far(values, step):
    best = -math.inf
    for value, item in zip(values, ladder_scores(values, step), strict=True):
        best = max(best, value) if math.isfinite(value) else best
        assert item.value is None if best == -math.inf else best - 1.5 * step <= item.value <= best + step / 2 + 1e-9


@settings(max_examples=25)
@given(histories, st.floats(1e-3, 0.5))
def test_less_is_better_is_the_mirror_image(values, step):
    mirrored = ladder_scores([-value for value in values], step, -1)
    for item, other in zip(ladder_scores(values, step), mirrored, strict=True):
        assert (item.best, item.new) == (other.best, other.new)
        assert item.value is other.value is None or item.value == -other.value


def test_a_story():
    result = ladder_scores([math.nan, 0.71, 0.74, 0.76, 0.6, 0.79], 0.05)
    assert result[0] == ShownScore(None, None, False)
    assert [item.best for item in result[1:]] == [1, 1, 3, 3, 3]
    assert [item.value for item in result[1:]] == pytest.approx([0.7, 0.7, 0.75, 0.75, 0.75])


def replicated(right, times=300):
    """Paired samples (times, T) of the accuracies of rows (n, T)."""
    n = len(right)
    counts = np.random.default_rng(9).multinomial(n, np.full(n, 1 / n), times)
    return counts @ right / n


def test_without_parameters_the_step_is_the_error_of_the_paired_difference():
    right = np.zeros((400, 3), bool)
    right[:200, 0] = True
    right[:204, 1] = True  # 4 rows more and none lost: 4/400 is 2 standard errors
    right[10:213, 2] = True  # 13 gained, 10 lost against the first
    values, replicates = right.mean(0).tolist(), replicated(right, 4000)
    assert [item.new for item in parameter_free_ladder_scores(values, replicates, 400)] == [True, True, False]
    assert [item.new for item in parameter_free_ladder_scores([values[0], values[2]], replicates[:, ::2], 400)] == [
        True,
        False,
    ]
    quotient = 4 / 400 / ((right[:, 1] ^ right[:, 0]).std(ddof=1) / 20)
    level = student.cdf(quotient, 399)
    for requests, new in ((level - 0.01, True), (level + 0.01, False)):
        assert parameter_free_ladder_scores(values[:2], replicates[:, :2], 400, level=requests)[1].new is new


def test_a_copy_is_nothing_new():
    right = np.random.default_rng(0).random((301, 1)) < 0.7
    result = parameter_free_ladder_scores([right.mean()] * 3, np.repeat(replicated(right), 3, 1), 301)
    assert [item.new for item in result] == [True, False, False]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("mechanism", ["steps", "errors", "t test"])
def test_the_boosting_attack_gains_little(seed, mechanism):
    """Random answers, of which the majority of those that the board called better than chance is submitted at the end.

    Every true accuracy is a half. On a board that shows all scores the attack gains about the root of k / n.
    """
    n, tries = 1000, 300
    rng = np.random.default_rng(seed)
    truth, answers = rng.random(n) < 0.5, rng.random((tries, n)) < 0.5
    right = (answers == truth).T
    scores = right.mean(0)
    plain = attacked(answers, truth, scores > 0.5)
    assert plain > 0.5 + 0.2 * np.sqrt(tries / n)
    if mechanism == "steps":
        view = ladder_scores(scores.tolist(), 0.05)
    else:
        replicates = replicated(right, 200)
        view = parameter_free_ladder_scores(
            scores.tolist(), replicates, n, level=0.95 if mechanism == "t test" else None
        )
    messages = np.array([item.new for item in view])  # all that the attacker learns
    assert messages.sum() <= 12
    assert attacked(answers, truth, messages) < 0.5 + (plain - 0.5) / 2
    assert view[-1].value <= scores.max() + 0.025


def attacked(answers, truth, chosen):
    """The score of the majority of the chosen answers."""
    return float(((answers[chosen].mean(0) > 0.5) == truth).mean())


@pytest.mark.parametrize("step", [0, -1, math.nan, math.inf])
def test_a_step_is_above_0(step):
    with pytest.raises(ValueError, match="step"):
        ladder_scores([0.5], step)


def test_what_does_not_fit_is_refused():
    for replicates in (np.ones((9, 2)), np.ones(9), np.ones((1, 1))):
        with pytest.raises(ValueError, match="replicates"):
            parameter_free_ladder_scores([0.5], replicates, 10)
    for rows, level in ((1, None), (10, 0.4), (10, 1.0)):
        with pytest.raises(ValueError, match="ladder"):
            parameter_free_ladder_scores([0.5], np.ones((9, 1)), rows, level=level)
    with pytest.raises(ValueError, match="direction"):
        ladder_scores([0.5], 0.1, 0)


def test_scores_beyond_numbers_are_never_shown():
    result = ladder_scores([math.inf, 1e308, 0.5], 1e-9)
    assert [item.value for item in result] == [None, None, pytest.approx(0.5)]
    undefined = parameter_free_ladder_scores([0.5, 0.9], np.array([[0.5, np.nan], [0.4, 0.9]]), 10)
    assert [item.best for item in undefined] == [0, 0]
