"""Confusion matrices of many classes: only the cells that occur are held."""

import tracemalloc

import numpy as np
import pytest
import sklearn.metrics

from dynabench.evaluate import load
from dynabench.evaluate.confusion import Cells

RNG = np.random.default_rng(0)
TRUE = RNG.integers(0, 40_000, 50_000)
PREDICTED = np.where(RNG.random(50_000) < 0.7, TRUE, RNG.integers(0, 40_000, 50_000))


def test_forty_thousand_classes_are_averaged_in_little_memory():
    tracemalloc.start()
    result = load("f1").compute(predictions=PREDICTED, references=TRUE, average="macro")
    agreement = load("matthews_correlation").compute(predictions=PREDICTED, references=TRUE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result["f1"] == pytest.approx(sklearn.metrics.f1_score(TRUE, PREDICTED, average="macro"))
    assert agreement["matthews_correlation"] == pytest.approx(
        (TRUE == PREDICTED).mean(), abs=1e-3
    )  # chance is 1 in 40,000
    assert peak < 100e6


def test_a_matrix_that_no_memory_holds_is_refused():
    with pytest.raises(ValueError, match="classes make a matrix too large for memory"):
        load("confusion_matrix").compute(predictions=PREDICTED, references=TRUE)


@pytest.mark.release
def test_an_interval_over_a_thousand_classes_takes_little_memory():
    true, answer = TRUE[:3000] % 1000, PREDICTED[:3000] % 1000
    tracemalloc.start()
    result = load("f1").compute(predictions=answer, references=true, average="micro", interval=0.9, resamples=200)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result["interval"]["f1"]["low"] < result["f1"] < result["interval"]["f1"]["high"]
    assert peak < 500e6


@pytest.mark.parametrize("size", [3, 300])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_those_of_the_whole_matrix(size, weighted):
    true, answer = TRUE[:400] % size, PREDICTED[:400] % size
    weights = RNG.random(400) if weighted else None
    state = Cells.of(true, answer, weights)
    total = state.total()
    whole = sklearn.metrics.confusion_matrix(true, answer, sample_weight=weights)
    assert total.counts == pytest.approx(whole)
    blocks = state.at(RNG.integers(0, 400, (5, 400)))
    for matrix in (total, blocks):
        assert matrix.hits == pytest.approx(np.diagonal(matrix.counts, axis1=-2, axis2=-1))
        assert matrix.true == pytest.approx(matrix.counts.sum(-1))
        assert matrix.predicted == pytest.approx(matrix.counts.sum(-2))
