"""The soak's judgement of memory: slopes of known lines, and what is said of them."""

import math

import numpy as np
import pytest

from scripts.soak_memory import FLAT, growth, slope


def line(rate: float, noise: float = 0.0, seed: int = 0, carried: float = 0.0) -> list[tuple[float, float]]:
    """Twenty minutes of samples that grow by `rate` MiB a minute; each keeps a share `carried` of the noise before."""
    chance, remaining, result = np.random.default_rng(seed), 0.0, []
    for at in range(240):
        remaining = carried * remaining + noise * math.sqrt(1 - carried**2) * chance.standard_normal()
        result.append((at * 5.0, 200 + rate * at * 5 / 60 + remaining))
    return result


def test_the_slope_of_a_straight_line_is_found_without_error():
    rate, error = slope(line(1.25))
    assert rate == pytest.approx(1.25)
    assert error == pytest.approx(0, abs=1e-6)


def test_the_error_is_that_of_least_squares_where_samples_are_independent():
    samples = np.array(line(1.0, noise=3.0, seed=2))
    _, covariance = np.polyfit(samples[:, 0] / 60, samples[:, 1], 1, cov=True)
    assert slope([(a, b) for a, b in samples])[1] == pytest.approx(math.sqrt(covariance[0, 0]), rel=0.1)


@pytest.mark.parametrize("carried", [0.0, 0.8])
def test_the_true_slope_is_within_two_errors_about_as_often_as_it_should_be(carried):
    slopes = [slope(line(1.0, 3.0, seed, carried)) for seed in range(300)]
    assert 0.88 <= np.mean([abs(rate - 1.0) <= 2 * error for rate, error in slopes]) <= 0.99


@pytest.mark.parametrize(
    ("rate", "noise", "verdict"), [(0.1, 1.0, "flat"), (FLAT + 1, 1.0, "grows"), (FLAT, 60.0, "unclear")]
)
def test_a_verdict_is_only_given_where_the_uncertainty_allows_one(rate, noise, verdict):
    assert growth("web", [line(rate, noise)]).verdict == verdict


def test_a_short_life_tells_nothing_and_the_longest_one_is_judged():
    assert growth("web", [line(9.0)[:50]]).verdict == "too short"
    assert growth("web", [line(9.0)[:2]]).slope_text == "too few samples"
    assert growth("web", [line(9.0)[:50], line(0.0)]).verdict == "flat"
