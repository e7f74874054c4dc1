"""Brier score, against scikit-learn."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss

from dynabench.evaluate import load

rows = st.lists(
    st.tuples(st.sampled_from(["ham", "spam"]), st.floats(0, 1), st.floats(0.01, 5)), min_size=1, max_size=20
)


@given(rows, st.booleans(), st.sampled_from(["ham", "spam"]))
def test_texts_equal_scikit_learn(rows: Any, weighted: bool, positive: str) -> None:
    true, answer, weight = (list(column) for column in zip(*rows, strict=True))
    options = {"sample_weight": weight if weighted else None, "pos_label": positive}
    brier_score = load("brier_score").compute(predictions=answer, references=true, **options)["brier_score"]
    if len(set(true)) == 2:
        assert brier_score == pytest.approx(brier_score_loss(true, answer, **options))
    weights = np.array(weight) if weighted else np.ones(len(true))
    errors = (np.array(answer) - (np.array(true) == positive)) ** 2
    assert brier_score == pytest.approx((errors * weights).sum() / weights.sum())


@pytest.mark.parametrize("labels", [(0, 1), (-1, 1), (0.0, 1.0), (False, True)])
def test_numbers_equal_scikit_learn(labels: Any) -> None:
    true, answer = [labels[0], labels[1], labels[1]], [0.2, 0.7, 0.4]
    result = load("brier_score").compute(predictions=answer, references=true)
    assert result["brier_score"] == pytest.approx(brier_score_loss(true, answer))


@given(st.integers(2, 4), st.integers(0, 10**6))
def test_rows_of_probabilities_equal_scikit_learn(classes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answer = rng.dirichlet(np.ones(classes), 6)
    true = np.eye(classes, dtype=int)[[0, 1, *rng.integers(0, classes, 4)]]
    result = load("brier_score", "multilist").compute(predictions=answer, references=true)
    assert result["brier_score"] == pytest.approx(brier_score_loss(true, answer))


@given(rows, rows)
def test_merged_batches_equal_all_rows(first: Any, second: Any) -> None:
    module = load("brier_score", pos_label="ham")
    columns = [
        dict(zip(("references", "predictions", "sample_weight"), map(list, zip(*part, strict=True)), strict=True))
        for part in (first, second, first + second)
    ]
    merged = module.merge(*(module.state(column) for column in columns[:2]))
    assert module.result(merged)["brier_score"] == pytest.approx(module.compute(**columns[2])["brier_score"])


def test_each_example_has_its_squared_error_and_all_an_interval() -> None:
    result = load("brier_score").compute(
        predictions=[0.5, 0.9, 0.1], references=[1, 1, 1], per_example=True, interval=0.9
    )
    assert result["per_example"]["brier_score"] == pytest.approx([0.25, 0.01, 0.81])
    assert result["interval"]["brier_score"]["low"] < result["brier_score"] < result["interval"]["brier_score"]["high"]


@pytest.mark.parametrize(
    ("predictions", "true", "options", "message"),
    [
        ([0.1, -0.1], [0, 1], {}, "row 1 is -0.1, which is no probability"),
        ([0.1, float("nan")], [0, 1], {}, "row 1 is nan"),
        ([0.1, 0.2], ["ham", "spam"], {}, "choose pos_label from 'ham', 'spam'"),
        ([0.1], ["ham"], {}, "choose pos_label from 'ham'"),
        ([0.1, 0.2], [2, 3], {}, "choose pos_label from 2, 3"),
        ([0.1, 0.2, 0.3], [0, 1, 2], {}, "3 classes"),
        ([[0.1, 0.9]], [1], {}, "need one shape"),
        ([[0.1, 0.9]], [[0, 1, 0]], {}, "need one shape"),
        ([0.1, 0.2], [0.5, 1], {}, "row 0 is 0.5, which is no label"),
    ],
)
def test_what_has_no_score_is_told(predictions: Any, true: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("brier_score").compute(predictions=predictions, references=true, **options)
