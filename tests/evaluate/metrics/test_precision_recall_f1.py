"""Precision, recall and F1: against scikit-learn for all averages, kinds of columns, weights and labels."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load
from tests.evaluate import real

NAMES = ("precision", "recall", "f1")
label = st.integers(-1, 3)
weights = st.floats(0.01, 5)
several = st.lists(st.tuples(label, label, weights), min_size=1, max_size=30)
two = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1), weights), min_size=1, max_size=20)
places = st.lists(st.integers(0, 1), min_size=4, max_size=4)
sets = st.lists(st.tuples(places, places, weights), min_size=1, max_size=15)


def oracle(name: str, true: Any, predictions: Any, **options: Any) -> Any:
    score = getattr(sklearn.metrics, f"{name}_score")(true, predictions, **{"zero_division": 0, **options})
    return score.tolist() if isinstance(score, np.ndarray) else score


def check(name: str, rows: Any, weighted: bool, **options: Any) -> None:
    answer, true, weight = (list(column) for column in zip(*rows, strict=True))
    options["sample_weight"] = weight if weighted else None
    zero = {"zero_division": options.pop("zero_division", 0)}
    if name == "f1":
        zero = {}  # it has none
    result = load(name).compute(predictions=answer, references=true, **options, **zero)[name]
    assert result == pytest.approx(oracle(name, np.array(true), np.array(answer), **options, **zero))


@pytest.mark.parametrize("name", NAMES)
@given(rows=several, average=st.sampled_from(["macro", "micro", "weighted", None]), weighted=st.booleans())
def test_averages_over_classes_equal_scikit_learn(name: str, rows: Any, average: Any, weighted: bool) -> None:
    check(name, rows, weighted, average=average)


@pytest.mark.parametrize("name", NAMES)
@given(rows=two, positive=st.integers(0, 1), weighted=st.booleans(), zero=st.integers(0, 1))
def test_one_positive_class_equals_scikit_learn(name: str, rows: Any, positive: int, weighted: bool, zero: int) -> None:
    held = {label for row in rows for label in row[:2]}
    if held == {0} or positive in held:  # scikit-learn refuses the rest
        check(name, rows, weighted, pos_label=positive, zero_division=zero)


@pytest.mark.parametrize("name", NAMES)
@given(
    rows=several,
    labels=st.lists(st.integers(-1, 5), min_size=1, max_size=4, unique=True),
    average=st.sampled_from(["macro", "micro", "weighted", None]),
    zero=st.integers(0, 1),
)
def test_chosen_labels_equal_scikit_learn(name: str, rows: Any, labels: Any, average: Any, zero: int) -> None:
    if {label for row in rows for label in row[:2]} & set(labels):
        check(name, rows, False, labels=labels, average=average, zero_division=zero)


@pytest.mark.release
@pytest.mark.parametrize("name", NAMES)
@given(
    rows=sets,
    average=st.sampled_from(["macro", "micro", "weighted", "samples", None]),
    weighted=st.booleans(),
    zero=st.integers(0, 1),
)
def test_several_classes_at_once_equal_scikit_learn(
    name: str, rows: Any, average: Any, weighted: bool, zero: int
) -> None:
    check(name, rows, weighted, average=average, zero_division=zero)


@pytest.mark.parametrize("name", NAMES)
@given(rows=several)
def test_texts_and_big_numbers_score_as_small_numbers(name: str, rows: Any) -> None:
    answer, true, _ = (list(column) for column in zip(*rows, strict=True))
    small = load(name, average="macro").compute(predictions=answer, references=true)
    for disguise in (lambda single: f"class {single:+}", lambda first: first * 10**12 + 7):
        columns = [[disguise(candidate) for candidate in column] for column in (answer, true)]
        for pair in (columns, [np.array(column) for column in columns]):
            result = load(name, average="macro").compute(predictions=pair[0], references=pair[1])
            assert result == pytest.approx(small)


@given(several, several)
def test_merged_batches_equal_all_rows(first: Any, second: Any) -> None:
    module = load("f1", average=None)
    columns = [
        dict(zip(("predictions", "references", "sample_weight"), map(list, zip(*rows, strict=True)), strict=True))
        for rows in (first, second, first + second)
    ]
    merged = module.merge(*(module.state(column) for column in columns[:2]))
    assert module.result(merged, average=None)["f1"] == pytest.approx(module.compute(**columns[2])["f1"])


@pytest.mark.parametrize(
    ("predictions", "options", "message"),
    [
        (([0, 1, 2], [0, 1, 2]), {}, "average='binary' is for two classes, not 3"),
        ((["a", "b"], ["a", "a"]), {}, "choose pos_label from 'a', 'b'"),
        (([2, 3], [2, 2]), {}, "no label is 1; choose pos_label from 2, 3"),
        (([0, 1], [0, 1]), {"average": "mean"}, "no average 'mean'"),
        (([0, 1], [0, 1]), {"average": "samples"}, "needs rows of 0 and 1"),
        (([0, 1], [0, 1]), {"average": "macro", "labels": [5]}, r"none of labels=\[5\] occurs"),
        (([[0, 1]], [[0, 2]]), {}, "references: give a row of 0 and 1"),
        (([[0, 1]], [1]), {}, "need one shape"),
        (([[0, 1]], [[0, 1, 1]]), {}, "need one shape"),
        (([0.5], [1]), {}, "row 0 is 0.5, which is no label"),
        (([None], [1]), {}, "row 0 is missing"),
        (([1, 0], ["yes", "no"]), {}, "some labels are texts and some numbers"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_what_cannot_be_averaged_is_told(name: str, predictions: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(name).compute(predictions=predictions[0], references=predictions[1], **options)


@pytest.mark.parametrize("name", ["precision", "recall"])
def test_a_strange_zero_division_is_told(name: str) -> None:
    with pytest.raises(ValueError, match="zero_division is 0 or 1, not 'nan'"):
        load(name).compute(predictions=[1], references=[1], zero_division="nan")


@pytest.mark.release
@pytest.mark.parametrize("average", ["binary", "macro", None])
def test_intervals_are_those_of_scipy(average: Any) -> None:
    rng = np.random.default_rng(7)
    true = rng.integers(0, 2, 120)
    answer = np.where(rng.random(120) < 0.8, true, 1 - true)
    result = load("f1").compute(predictions=answer, references=true, average=average, interval=0.95)["interval"]["f1"]

    def score(true: Any, predictions: Any) -> Any:
        columns = true[true == predictions], true, predictions
        hits, right, named = (np.bincount(labels, minlength=2) for labels in columns)
        by_class = 2 * hits / (right + named)
        return {"binary": by_class[1], "macro": by_class.mean(), None: by_class}[average]

    expected = scipy.stats.bootstrap(
        (true, answer), score, paired=True, vectorized=False, n_resamples=700, random_state=rng
    )
    for side in ("low", "high"):
        limits = getattr(expected.confidence_interval, side)
        assert np.array(result[side]) == pytest.approx(np.array(limits), abs=0.02)
    assert np.array(result["standard_error"]) == pytest.approx(expected.standard_error, rel=0.12)


@pytest.mark.release
@pytest.mark.parametrize(
    ("folder", "rule"),
    [
        ("davidson", lambda text: "offensive" if "b" in text.lower().split("@")[-1] else "neither"),
        ("stormfront", lambda text: "hate" if any(word in text.lower() for word in ("white", "they")) else "noHate"),
    ],
)
def test_a_rule_on_real_texts_scores_as_scikit_learn_says(folder: str, rule: Any) -> None:
    rows = real.rows(f"{folder}/all.jsonl.gz")
    true = [row["label"] for row in rows]
    rules = [rule(row["text"]) for row in rows]
    assert 0 < sum(map(str.__eq__, true, rules)) < len(true)
    for name in NAMES:
        for average in ("macro", "weighted", None):
            result = load(name, average=average).compute(predictions=rules, references=true)[name]
            assert result == pytest.approx(oracle(name, true, rules, average=average))
    assert load("accuracy").compute(predictions=rules, references=true)["accuracy"] == pytest.approx(
        sklearn.metrics.accuracy_score(true, rules)
    )
