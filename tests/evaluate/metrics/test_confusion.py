"""Confusion matrix, Matthews correlation and Cohen's kappa: against scikit-learn."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load

label = st.integers(0, 3)
several = st.lists(st.tuples(label, label, st.floats(0.01, 5)), min_size=1, max_size=30)
places = st.lists(st.integers(0, 1), min_size=3, max_size=3)


def columns(rows: Any) -> tuple[Any, Any, Any]:
    answer, true, weight = (list(column) for column in zip(*rows, strict=True))
    return answer, true, weight


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(several, st.booleans(), st.sampled_from([None, "true", "pred", "all"]))
def test_a_confusion_matrix_equals_scikit_learn(rows: Any, weighted: bool, normalize: Any) -> None:
    answer, true, weight = columns(rows)
    options = {"sample_weight": weight if weighted else None, "normalize": normalize}
    result = load("confusion_matrix").compute(predictions=answer, references=true, **options)
    assert np.array(result["confusion_matrix"]) == pytest.approx(
        sklearn.metrics.confusion_matrix(true, answer, **options)
    )
    assert result["labels"] == sorted({*answer, *true})


@pytest.mark.filterwarnings("ignore:A single label was found")
@given(several, st.lists(st.integers(0, 6), min_size=1, max_size=5, unique=True))
def test_chosen_labels_cut_the_matrix_as_scikit_learn_does(rows: Any, labels: Any) -> None:
    answer, true, _ = columns(rows)
    if set(true) & set(labels):
        result = load("confusion_matrix").compute(predictions=answer, references=true, labels=labels)
        assert result["confusion_matrix"] == sklearn.metrics.confusion_matrix(true, answer, labels=labels).tolist()
        assert result["labels"] == labels


def test_existing_code_gets_the_array_alone() -> None:
    result = load("confusion_matrix", compat=True).compute(predictions=[0, 1], references=[0, 0])
    assert list(result) == ["confusion_matrix"]
    assert isinstance(result["confusion_matrix"], np.ndarray)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"normalize": "rows"}, "normalize is None, 'true', 'pred' or 'all'"),
        ({"labels": [8, 9]}, "none of labels"),
        ({"labels": [0, 0]}, "names one twice"),
    ],
)
def test_options_that_give_no_matrix_are_told(options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("confusion_matrix").compute(predictions=[0, 1], references=[0, 1], **options)


def test_a_matrix_has_an_interval_in_each_cell() -> None:
    spans = load("confusion_matrix", normalize="true").compute(
        predictions=[0, 1, 1, 0] * 20, references=[0, 1, 0, 1] * 20, interval=0.95
    )["interval"]["confusion_matrix"]
    assert np.all(np.array(spans["low"]) < 0.5)
    assert np.all(np.array(spans["high"]) > 0.5)


@given(several, st.booleans())
def test_matthews_correlation_equals_scikit_learn(rows: Any, weighted: bool) -> None:
    answer, true, weight = columns(rows)
    options = {"sample_weight": weight if weighted else None}
    result = load("matthews_correlation").compute(predictions=answer, references=true, **options)
    if len(set(answer)) > 1 and len(set(true)) > 1:
        expected = sklearn.metrics.matthews_corrcoef(true, answer, **options)
    else:
        expected = 0  # scikit-learn may leave a rounding error in place of 0
    assert result["matthews_correlation"] == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.tuples(places, places, st.floats(0.01, 5)), min_size=1, max_size=12), st.booleans())
def test_matthews_correlation_of_several_classes_at_once_is_that_of_each(rows: Any, weighted: bool) -> None:
    answer, true, weight = columns(rows)
    weights = weight if weighted else None
    module = load("matthews_correlation", "multilabel")
    matthews_correlations = [
        module.compute(
            predictions=[row[place] for row in answer], references=[row[place] for row in true], sample_weight=weights
        )["matthews_correlation"]
        for place in range(3)
    ]
    matthews_correlation = module.compute(predictions=answer, references=true, sample_weight=weights)[
        "matthews_correlation"
    ]
    assert matthews_correlation == pytest.approx(matthews_correlations, abs=1e-9)
    mean = module.compute(predictions=answer, references=true, sample_weight=weights, average="macro")
    assert mean["matthews_correlation"] == pytest.approx(np.mean(matthews_correlations), abs=1e-9)


def test_another_average_of_matthews_correlation_is_told() -> None:
    with pytest.raises(ValueError, match="average is None or 'macro'"):
        load("matthews_correlation").compute(predictions=[0], references=[0], average="micro")


@given(several, st.booleans(), st.sampled_from([None, "linear", "quadratic"]))
def test_cohen_kappa_equals_scikit_learn(rows: Any, weighted: bool, weights: Any) -> None:
    answer, true, weight = columns(rows)
    options = {"sample_weight": weight if weighted else None, "weights": weights}
    if len({*answer, *true}) < 2:
        with pytest.raises(ValueError, match="kappa is undefined"):
            load("cohen_kappa").compute(predictions=answer, references=true, **options)
        return
    cohen_kappa = load("cohen_kappa").compute(predictions=answer, references=true, **options)["cohen_kappa"]
    assert cohen_kappa == pytest.approx(sklearn.metrics.cohen_kappa_score(true, answer, **options), abs=1e-9)


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_takes_the_order_of_its_labels(weights: Any) -> None:
    answer, true = ["low", "mid", "high", "low", "odd"], ["low", "high", "high", "mid", "low"]
    labels = ["low", "mid", "high"]
    result = load("cohen_kappa").compute(predictions=answer, references=true, weights=weights, labels=labels)
    expected = sklearn.metrics.cohen_kappa_score(answer, true, weights=weights, labels=labels)
    assert result["cohen_kappa"] == pytest.approx(expected)


@pytest.mark.release
def test_kappa_has_the_interval_of_scipy() -> None:
    rng = np.random.default_rng(3)
    true = rng.integers(1, 5, 150)
    reply = np.clip(true + rng.integers(-1, 2, 150), 1, 4)
    kappa = load("cohen_kappa", weights="quadratic")
    result = kappa.compute(predictions=reply, references=true, interval=0.9)
    expected = scipy.stats.bootstrap(
        (true, reply),
        lambda true, answer: kappa.compute(predictions=answer, references=true)["cohen_kappa"],
        paired=True,
        vectorized=False,
        n_resamples=999,
        confidence_level=0.9,
        random_state=rng,
    )
    span = result["interval"]["cohen_kappa"]
    assert span["low"] == pytest.approx(expected.confidence_interval.low, abs=0.01)
    assert span["high"] == pytest.approx(expected.confidence_interval.high, abs=0.01)


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (([1, 2], [1, 2]), {"weights": "cubic"}, "weights is None, 'linear' or 'quadratic'"),
        (([1, 2], [1, 2]), {"labels": [7]}, r"none of labels=\[7\] occurs"),
        ((["a", "b"], ["a", "b"]), {"weights": "linear"}, "in the order of the scale"),
        (([1.5, 2], [1, 2]), {}, "row 0 is 1.5, which is no label"),
    ],
)
def test_what_has_no_kappa_is_told(columns: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("cohen_kappa").compute(predictions=columns[0], references=columns[1], **options)
