"""Accuracy: against scikit-learn, on kinds of columns, on what cannot be computed, and its intervals."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load

rows = st.lists(st.tuples(st.integers(-2, 3), st.integers(-2, 3), st.floats(0.01, 5)), min_size=1, max_size=30)


@given(rows, st.booleans(), st.booleans())
def test_equals_scikit_learn(rows: Any, weighted: bool, normalize: bool) -> None:
    answer, true, weight = (list(column) for column in zip(*rows, strict=True))
    options = {"sample_weight": weight if weighted else None, "normalize": normalize}
    accuracy = load("accuracy").compute(predictions=answer, references=true, **options)["accuracy"]
    assert accuracy == pytest.approx(sklearn.metrics.accuracy_score(true, answer, **options))


@pytest.mark.parametrize(
    ("predictions", "references"),
    [
        (["a", "b", "a"], ["a", "a", "a"]),
        (np.array(["a", "b", "a"]), np.array(["a", "a", "a"])),
        (np.array(["a", "b", "a"], object), ("a", "a", "a")),
        ([10**15, -(10**15), 3], [10**15, 0, 3]),
        (np.array([1, 2, 3], np.uint8), [1, 0, 3]),
        ([1.0, 2.0, 3.0], np.array([1, 0, 3])),
        ([True, False, True], [True, True, True]),
        (range(3), [0, 0, 2]),
    ],
)
def test_takes_labels_of_every_kind(predictions: Any, references: Any) -> None:
    assert load("accuracy").compute(predictions=predictions, references=references) == {"accuracy": 2 / 3}


@pytest.mark.parametrize(
    ("predictions", "references", "message"),
    [
        ([0.9, 1.2], [0, 1], "predictions: row 0 is 0.9, which is no label"),
        ([0, None], [0, 1], "predictions: row 1 is missing"),
        ([0, 1], [0.0, float("nan")], "references: row 1 is NaN"),
        ([0, "b"], [0, 1], "row 0 and row 1 mix text and other values"),
        (["a", None], ["a", "b"], "row 1 is missing"),
        (["1", "0"], [1, 0], "some labels are texts and some numbers"),
        ([1, 0], [1], "predictions has 2, references has 1"),
        ([[1, 2]], [[1, 0]], "give a row of 0 and 1"),
        ([[1], [1, 0]], [1, 0], "rows have different lengths"),
        (3, 3, "give a list with one value for each example"),
        ("cat", "cat", "not str"),
        ([{"label": 1}], [1], "not a number"),
        ([float("inf")], [1], "row 0 is inf, which is no label"),
    ],
)
def test_what_is_no_label_is_told(predictions: Any, references: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("accuracy").compute(predictions=predictions, references=references)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([0, 0], "all examples weigh 0"), ([1, -1], "row 1 is negative"), ([1e308, 1e308], "the sum")],
)
def test_weights_that_weigh_nothing_are_refused(weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("accuracy").compute(predictions=[1, 1], references=[1, 0], sample_weight=weights)


@pytest.mark.parametrize("method", ["bca", "percentile", "basic"])
def test_intervals_are_those_of_scipy(method: str) -> None:
    right = np.random.default_rng(1).random(200) < 0.83
    accuracy = load("accuracy").compute(
        predictions=right.astype(int), references=np.ones(200, int), interval=0.9, method=method, resamples=20_000
    )["interval"]["accuracy"]
    answer = scipy.stats.bootstrap(
        (right,), np.mean, confidence_level=0.9, n_resamples=20_000, method=method, random_state=2
    )
    assert accuracy["low"] == pytest.approx(answer.confidence_interval.low, abs=0.0051)  # a step of 200 rows is 0.005
    assert accuracy["high"] == pytest.approx(answer.confidence_interval.high, abs=0.0051)
    assert accuracy["standard_error"] == pytest.approx(answer.standard_error, rel=0.03)


def test_each_example_has_its_score() -> None:
    result = load("accuracy").compute(predictions=[1, 0, 1], references=[1, 1, 1], per_example=True)
    assert result["per_example"] == {"accuracy": [1.0, 0.0, 1.0]}


def test_rows_of_several_classes_are_right_as_a_whole():
    rng = np.random.default_rng(0)
    predictions, references = rng.integers(0, 2, (2, 50, 3))
    weights = rng.random(50)
    module = load("accuracy", "multilabel")
    for options in ({}, {"normalize": False}, {"sample_weight": weights}):
        result = module.compute(predictions=predictions, references=references.tolist(), **options)
        assert result["accuracy"] == pytest.approx(sklearn.metrics.accuracy_score(references, predictions, **options))


@pytest.mark.parametrize("references", [[0, 1], [[0, 1, 1], [0, 0, 1]]])
def test_rows_of_several_classes_need_as_many_of_them(references):
    with pytest.raises(ValueError, match="one shape"):
        load("accuracy", "multilabel").compute(predictions=[[0, 1], [1, 1]], references=references)
