"""Averages over data sets and rounds, and the saturation of rounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.stats.averages import average_over_datasets, dataset_shares, recency_weights, saturation

SCORES = {
    "x": {"one": {"accuracy": 0.8, "fairness": 0.9}, "two": {"accuracy": 0.6}},
    "y": {"one": {"accuracy": 0.7, "fairness": 0.5}, "two": {"accuracy": 0.9}},
    "z": {"one": {"accuracy": 0.5, "fairness": 0.4}},
}


def test_a_metric_is_averaged_over_the_data_sets_that_have_it():
    result = average_over_datasets(SCORES)
    assert result["x"] == pytest.approx({"accuracy": 0.7, "fairness": 0.9})
    assert result["y"] == pytest.approx({"accuracy": 0.8, "fairness": 0.5})


def test_who_lacks_a_data_set_lacks_its_metrics_average():
    assert average_over_datasets(SCORES)["z"] == {"fairness": 0.4}
    assert average_over_datasets(SCORES, {"one": 1})["z"] == {"accuracy": 0.5, "fairness": 0.4}


def test_weights_are_normalised_among_the_metrics_data_sets():
    result = average_over_datasets(SCORES, {"one": 1, "two": 3})
    assert result["x"] == pytest.approx({"accuracy": 0.65, "fairness": 0.9})
    assert dataset_shares(SCORES, {"one": 1, "two": 3}) == {
        "accuracy": {"one": 0.25, "two": 0.75},
        "fairness": {"one": 1.0},
    }
    assert average_over_datasets(SCORES, {"two": 2})["x"] == {"accuracy": 0.6}


def test_nothing_has_no_averages():
    assert average_over_datasets({}) == average_over_datasets({}, {"one": 1}) == dataset_shares({}) == {}
    assert average_over_datasets({"x": {}}) == {"x": {}}


@pytest.mark.parametrize("weights", [{"three": 1}, {"one": -1}, {"one": math.nan}, {"one": math.inf}, {"one": 0}, {}])
def test_weights_of_nothing_are_refused(weights):
    with pytest.raises(ValueError, match=r"data set|no model"):
        average_over_datasets(SCORES, weights)


@given(st.lists(st.booleans(), max_size=20), st.floats(0, 0.99))
def test_each_round_weighs_less_than_the_next_by_the_discount(rounds, discount):
    result = recency_weights(rounds, discount)
    assert [weight for weight, item in zip(result, rounds, strict=True) if not item] == [1] * rounds.count(False)
    weights = [weight for weight, item in zip(result, rounds, strict=True) if item]
    assert weights[-1:] == [1] * bool(weights)
    assert weights[:-1] == pytest.approx([(1 - discount) * weight for weight in weights[1:]])


def test_older_rounds_fade():
    assert recency_weights([True, False, True, True], 0.5) == [0.25, 1, 0.5, 1]
    assert recency_weights([True] * 3) == [1, 1, 1]
    assert recency_weights([]) == []


@pytest.mark.parametrize("discount", [1, -0.1, 1.1, math.nan])
def test_other_discounts_are_refused(discount):
    with pytest.raises(ValueError, match="discount"):
        recency_weights([True], discount)


def test_the_first_model_stands_at_minus_1_and_people_at_0():
    assert saturation(0.6, 0.6, 0.9) == -1
    assert saturation(0.9, 0.6, 0.9) == 0
    assert saturation(0.75, 0.6, 0.9) == pytest.approx(-0.5)
    assert saturation(1.0, 0.6, 0.9) == pytest.approx(1 / 3)
    assert saturation(0.5, 0.6, 0.9) == pytest.approx(-4 / 3)


def test_less_may_be_better():
    assert saturation(30, 30, 10, -1) == -1
    assert saturation(10, 30, 10, -1) == 0
    assert saturation(5, 30, 10, -1) == pytest.approx(0.25)


@pytest.mark.parametrize("numbers", [(0.5, 0.9, 0.9), (0.5, 0.95, 0.9), (math.nan, 0.1, 0.9), (0.5, 0.1, math.inf)])
def test_without_a_first_model_below_people_there_is_no_scale(numbers):
    assert saturation(*numbers) is None
