"""Mahalanobis distances, against scipy."""

import numpy as np
import pytest
from scipy.spatial import distance

from dynabench.evaluate import load

RNG = np.random.default_rng(0)
REFERENCE = RNG.normal([5, -3, 0], [1, 4, 2], (60, 3))
POINTS = RNG.normal(size=(9, 3))


@pytest.mark.parametrize("squared", [True, False])
def test_distances_are_those_of_scipy(squared):
    inverse = np.linalg.inv(np.cov(REFERENCE.T))
    expected = [distance.mahalanobis(point, REFERENCE.mean(0), inverse) for point in POINTS]
    result = load("mahalanobis").compute(X=POINTS, reference_distribution=REFERENCE, squared=squared)["mahalanobis"]
    assert result == pytest.approx(np.array(expected) ** (2 if squared else 1))


def test_the_compatible_form_subtracts_one_mean_over_all_coordinates():
    inverse = np.linalg.inv(np.cov(REFERENCE.T))
    expected = [distance.mahalanobis(point, np.full(3, REFERENCE.mean()), inverse) ** 2 for point in POINTS]
    result = load("mahalanobis", compat=True).compute(X=POINTS, reference_distribution=REFERENCE)["mahalanobis"]
    assert result == pytest.approx(expected)


def test_one_coordinate_gives_the_square_of_a_standard_score():
    reference = RNG.normal(2, 3, 40)
    expected = ((4 - reference.mean()) / reference.std(ddof=1)) ** 2
    result = load("mahalanobis").compute(X=[[4]], reference_distribution=reference[:, None])
    assert result["mahalanobis"] == pytest.approx([expected])


def test_distances_do_not_change_when_everything_is_turned_and_stretched():
    change = RNG.normal(size=(3, 3))
    plain, turned = (
        load("mahalanobis").compute(X=points, reference_distribution=reference)["mahalanobis"]
        for points, reference in ((POINTS, REFERENCE), (POINTS @ change + 7, REFERENCE @ change + 7))
    )
    assert plain == pytest.approx(turned)


def test_a_direction_without_spread_is_not_seen():
    flat = np.array([[0.0, 0], [1, 0], [2, 0], [3, 0]])
    near, far = load("mahalanobis").compute(X=[[1.5, 0], [1.5, 99]], reference_distribution=flat)["mahalanobis"]
    assert near == far == pytest.approx(0)


def test_merged_batches_are_all_rows():
    module = load("mahalanobis")
    merged = module.merge(module.state({"X": POINTS[:4]}), module.state({"X": POINTS[4:]}))
    whole = module.compute(X=POINTS, reference_distribution=REFERENCE)
    assert module.result(merged, reference_distribution=REFERENCE) == whole


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"X": [[1, 2]]}, "needs reference_distribution"),
        ({"X": [[1, 2], [1e200, 1]], "reference_distribution": [[1, 2], [2, 3], [5, 1]]}, "row 1 is further away"),
        ({"X": [1, 2], "reference_distribution": [[1], [2]]}, "row of numbers for each point"),
        ({"X": [[1, 2]], "reference_distribution": [[1], [2]]}, "rows of 2 numbers"),
        ({"X": [[1, 2]], "reference_distribution": [[1, float("nan")], [2, 2]]}, "reference_distribution: row 0"),
        ({"X": [[1, 2], [3]], "reference_distribution": [[1, 2], [2, 2]]}, "different lengths"),
    ],
)
def test_what_does_not_fit_is_told(columns, message):
    with pytest.raises(ValueError, match=message):
        load("mahalanobis").compute(**columns)
