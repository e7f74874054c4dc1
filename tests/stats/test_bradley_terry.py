"""Strengths from comparisons, against an optimiser that knows nothing of the algorithm, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize

from dynabench.stats.bradley_terry import PairwiseJudgement, fit_strengths, strength_board

COUNTS = st.integers(2, 5).flatmap(
    lambda size: st.tuples(
        arrays(np.int64, (size, size), elements=st.integers(0, 30)),
        arrays(np.int64, (size, size), elements=st.integers(0, 12)),
    )
)


def symmetric(ties):
    return np.triu(ties, 1) + np.triu(ties, 1).T


def negative_likelihood(parameters, wins, ties):
    """Davidson's likelihood as its formula stands; the last parameter is the logarithm of the tie's weight."""
    strength, weight = np.exp(parameters[:-1]), np.exp(parameters[-1])
    total = 0.0
    for i in range(len(strength)):
        for j in range(i):
            draw = weight * np.sqrt(strength[i] * strength[j])
            whole = strength[i] + strength[j] + draw
            total += wins[i, j] * np.log(strength[i] / whole) + wins[j, i] * np.log(strength[j] / whole)
            total += ties[i, j] * np.log(draw / whole) if ties[i, j] else 0.0
    return -total


@settings(deadline=None, max_examples=12)
@given(COUNTS)
def test_no_optimiser_finds_likelier_strengths(counts):
    wins, ties = counts[0].astype(float), symmetric(counts[1]).astype(float)
    result = fit_strengths(wins, ties, prior=0.5)
    reference = wins + 0.5
    np.fill_diagonal(reference, 0)
    start = np.append(result.strengths, np.log(max(float(result.tie), 1e-8)))
    own_value = negative_likelihood(start, reference, ties)
    reference_value = minimize(
        negative_likelihood, np.zeros(len(start)), (reference, ties), method="BFGS", options={"gtol": 1e-8}
    )
    assert own_value <= reference_value.fun + 1e-5 * max(1.0, abs(reference_value.fun))


def test_two_models_have_the_log_odds_of_their_wins():
    result = fit_strengths([[0, 30], [10, 0]])
    assert result.strengths[0] - result.strengths[1] == pytest.approx(np.log(3))
    assert result.chances()[0, 1] == pytest.approx(0.75)
    assert result.tie == 0


def test_strengths_are_those_of_a_logistic_regression():
    import statsmodels.api as sm

    rng = np.random.default_rng(7)
    wins = rng.integers(1, 40, (4, 4)).astype(float)
    np.fill_diagonal(wins, 0)
    rows, answers = [], []
    for i in range(4):
        for j in range(i):
            rows.append(np.eye(4)[i] - np.eye(4)[j])
            answers.append([wins[i, j], wins[j, i]])
    model = sm.GLM(np.array(answers), np.array(rows)[:, 1:], family=sm.families.Binomial()).fit(tol=1e-12)
    reference_value = np.append(0, model.params)
    assert fit_strengths(wins).strengths == pytest.approx(reference_value - reference_value.mean(), abs=1e-6)


@settings(deadline=None, max_examples=12)
@given(COUNTS, st.randoms(use_true_random=False))
def test_names_of_models_do_not_matter_and_tables_are_fitted_together_as_alone(counts, rnd):
    wins, ties = counts[0].astype(float), symmetric(counts[1]).astype(float)
    order = list(range(len(wins)))
    rnd.shuffle(order)
    both = np.ix_(order, order)
    first, second = fit_strengths(wins, ties, 0.5), fit_strengths(wins[both], ties[both], 0.5)
    assert second.strengths == pytest.approx(first.strengths[order], abs=1e-6)
    together = fit_strengths(np.stack([wins, wins[both]]), np.stack([ties, ties[both]]), 0.5)
    assert together.strengths[0] == pytest.approx(first.strengths, abs=1e-6)
    assert fit_strengths(wins.T, ties, 0.5).strengths == pytest.approx(-first.strengths, abs=1e-6)


@settings(deadline=None, max_examples=20)
@given(COUNTS)
def test_another_win_makes_nobody_weaker_than_before_against_the_loser(counts):
    wins = counts[0].astype(float)
    more = wins.copy()
    more[0, 1] += 1
    before, after = fit_strengths(wins, prior=0.5).strengths, fit_strengths(more, prior=0.5).strengths
    assert after[0] - after[1] >= before[0] - before[1] - 1e-7


def test_without_a_likeliest_strength_there_is_none():
    with pytest.raises(ValueError, match="never preferred"):
        fit_strengths([[0, 3], [0, 0]])
    assert np.isfinite(fit_strengths([[0, 3], [0, 0]], prior=0.5).strengths).all()


@pytest.mark.parametrize("wins", [[0, 1], [[0, 1, 2], [1, 0, 2]], [[0, -1], [1, 0]], [[0, np.nan], [1, 0]]])
def test_tables_that_are_none_are_refused(wins):
    with pytest.raises(ValueError, match="comparisons"):
        fit_strengths(wins)


def test_a_board_is_the_same_each_time_and_copies_share_a_place():
    games = [PairwiseJudgement(0, 1, 1, n) for n in range(12)] + [PairwiseJudgement(0, 1, 0, n) for n in range(12, 24)]
    games += [PairwiseJudgement(n % 2, 2, 1, n) for n in range(30)]
    first, second = strength_board(3, games, "a"), strength_board(3, games, "a")
    assert (first.low == second.low).all()
    assert str(first.ranks[2]) == "3"
    assert (str(first.ranks[0]), str(first.ranks[1])) == ("1-2", "1-2")
    assert first.wins.sum() == len(games)


def test_few_clusters_bound_nothing():
    games = [PairwiseJudgement(0, 1, 1, n) for n in range(5) for _ in range(20)]
    result = strength_board(3, games, "few")
    assert np.isinf(result.low).all()
    assert np.isinf(result.high).all()
    assert {str(item) for item in result.ranks} == {"1-3"}
    assert result.strengths[0] > result.strengths[1]
    games += [PairwiseJudgement(0, 1, 1, 5)]
    assert np.isfinite(strength_board(3, games, "six").low).all()


@pytest.mark.release
def test_intervals_cover_the_truth_about_as_often_as_they_say():
    rng = np.random.default_rng(3)
    truth, draw, trials, covered = np.array([0.6, 0.0, -0.6]), 0.4, 60, 0
    strength = np.exp(truth)
    for trial in range(trials):
        games = []
        for cluster in range(60):
            lean = rng.normal(0, 0.2, 3)  # people differ, which clusters account for
            for i, j in ((0, 1), (0, 2), (1, 2)):
                a, b = strength[i] * np.exp(lean[i]), strength[j] * np.exp(lean[j])
                both = draw * np.sqrt(a * b)
                games.append(
                    PairwiseJudgement(i, j, rng.choice([1, 0, 0.5], p=np.array([a, b, both]) / (a + b + both)), cluster)
                )
        result = strength_board(3, games, str(trial), times=200)
        covered += ((result.low <= truth) & (truth <= result.high)).sum()
    assert 0.88 <= covered / (3 * trials) <= 0.99
