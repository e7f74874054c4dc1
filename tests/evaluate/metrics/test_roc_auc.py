"""Area under the ROC curve, against scikit-learn."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from dynabench.evaluate import load

score = st.one_of(st.integers(-3, 3).map(float), st.floats(-5, 5))
weight = st.floats(0.01, 5)
binary = st.lists(st.tuples(st.integers(0, 1), score, weight), min_size=2, max_size=25).filter(
    lambda rows: len({row[0] for row in rows}) == 2
)


def columns(rows: Any) -> tuple[Any, Any, Any]:
    true, scores, weights = (list(column) for column in zip(*rows, strict=True))
    return true, scores, weights


def library_area(config: str, true: Any, scores: Any, **options: Any) -> Any:
    return load("roc_auc", config).compute(references=true, prediction_scores=scores, **options)["roc_auc"]


@pytest.mark.release
@given(binary, st.booleans(), st.one_of(st.none(), st.floats(0.05, 1)))
def test_two_classes_equal_scikit_learn(rows: Any, weighted: bool, max_fpr: Any) -> None:
    true, scores, weights = columns(rows)
    options = {"sample_weight": weights if weighted else None, "max_fpr": max_fpr}
    assert library_area("default", true, scores, **options) == pytest.approx(roc_auc_score(true, scores, **options))


@given(binary)
def test_texts_rank_the_greater_one(rows: Any) -> None:
    true, scores, _ = columns(rows)
    names = [("ham", "spam")[label] for label in true]
    assert library_area("default", names, scores) == pytest.approx(roc_auc_score(names, scores))


@st.composite
def probable(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    n = draw(st.integers(3, 15))
    true = [0, 1, 2, *draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))]
    raw = np.array(draw(st.lists(st.lists(st.integers(1, 6), min_size=3, max_size=3), min_size=n + 3, max_size=n + 3)))
    weights = draw(st.lists(weight, min_size=n + 3, max_size=n + 3))
    return true, (raw / raw.sum(1, keepdims=True)).tolist(), weights


@given(probable(), st.booleans(), st.sampled_from(["macro", "micro", "weighted", None]))
def test_each_class_against_the_rest_equals_scikit_learn(rows: Any, weighted: bool, average: Any) -> None:
    true, scores, weights = rows
    options = {"sample_weight": weights if weighted else None, "average": average, "multi_class": "ovr"}
    assert library_area("multiclass", true, scores, **options) == pytest.approx(roc_auc_score(true, scores, **options))


@pytest.mark.release
@given(probable(), st.sampled_from(["macro", "weighted"]))
def test_each_pair_of_classes_equals_scikit_learn(rows: Any, average: Any) -> None:
    true, scores, _ = rows
    options = {"average": average, "multi_class": "ovo"}
    assert library_area("multiclass", true, scores, **options) == pytest.approx(roc_auc_score(true, scores, **options))


def test_a_pair_of_classes_takes_weights_as_repetitions() -> None:
    true, scores = [0, 1, 2, 2], [[0.5, 0.3, 0.2], [0.2, 0.2, 0.6], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]]
    options = {"multi_class": "ovo", "average": "weighted"}
    again = library_area("multiclass", [*true, 2], [*scores, scores[3]], **options)
    assert library_area("multiclass", true, scores, sample_weight=[1, 1, 1, 2], **options) == pytest.approx(again)


places = st.lists(st.integers(0, 1), min_size=3, max_size=3)
sets = st.lists(st.tuples(places, st.lists(score, min_size=3, max_size=3), weight), min_size=2, max_size=12)


@given(sets, st.booleans(), st.sampled_from(["macro", "micro", "weighted", "samples", None]))
def test_several_classes_at_once_equal_scikit_learn(rows: Any, weighted: bool, average: Any) -> None:
    true, scores, weights = columns(rows)
    axis = {"samples": 1, "micro": None}.get(average, 0)
    if np.any(np.ptp(np.array(true), axis=axis) == 0):
        return  # undefined: see below
    options = {"sample_weight": weights if weighted else None, "average": average}
    expected = roc_auc_score(np.array(true), np.array(scores), **options)
    assert library_area("multilabel", true, scores, **options) == pytest.approx(expected)


def test_classes_that_do_not_occur_are_named_by_labels() -> None:
    with pytest.raises(ValueError, match="there are 2 classes but 3 scores"):
        library_area("multiclass", ["a", "b"], [[0.2, 0.3, 0.5]] * 2, multi_class="ovr")
    with pytest.raises(ValueError, match="a class has no examples"):
        library_area("multiclass", ["a", "b"], [[0.2, 0.3, 0.5]] * 2, multi_class="ovr", labels=["a", "b", "c"])
    item = library_area(
        "multiclass", ["a", "b"], [[0.2, 0.3, 0.5]] * 2, multi_class="ovr", labels=["a", "b", "c"], average=None
    )
    assert item == [0.5, 0.5, None]


@given(binary, binary)
def test_batches_that_lack_a_class_merge(first: Any, second: Any) -> None:
    module = load("roc_auc")
    rows = sorted(first + second, key=lambda row: row[0])  # the first batch may hold zeros alone
    parts = [rows[: len(first)], rows[len(first) :], rows]
    zips = [dict(zip(("references", "prediction_scores"), columns(part)[:2], strict=True)) for part in parts]
    merged = module.merge(*(module.state(part) for part in zips[:2]))
    assert module.result(merged)["roc_auc"] == pytest.approx(module.compute(**zips[2])["roc_auc"])


@pytest.mark.release
@pytest.mark.parametrize("max_fpr", [None, 0.3])
def test_the_interval_is_that_of_scipy(max_fpr: Any) -> None:
    rng = np.random.default_rng(4)
    true = rng.integers(0, 2, 90)
    scores = np.round(true + rng.normal(0, 1, 90), 1)
    span = load("roc_auc", max_fpr=max_fpr).compute(references=true, prediction_scores=scores, interval=0.9)
    expected = scipy.stats.bootstrap(
        (true, scores),
        lambda *pair: library_area("default", *pair, max_fpr=max_fpr),
        paired=True,
        vectorized=False,
        n_resamples=999,
        confidence_level=0.9,
        random_state=rng,
    )
    limits = span["interval"]["roc_auc"]
    assert limits["low"] == pytest.approx(expected.confidence_interval.low, abs=0.012)
    assert limits["high"] == pytest.approx(expected.confidence_interval.high, abs=0.012)
    assert limits["standard_error"] == pytest.approx(expected.standard_error, rel=0.1)


@given(binary, st.integers(0, 1000))
def test_a_resample_is_the_area_of_drawn_rows(rows: Any, seed: int) -> None:
    true, scores, weights = columns(rows)
    module = load("roc_auc")
    state = module.state({"references": true, "prediction_scores": scores, "sample_weight": weights})
    drawn = np.random.default_rng(seed).integers(0, len(true), (5, len(true)))
    areas = module.formula(state.at(drawn))["roc_auc"]
    for rows_drawn, area in zip(drawn, areas, strict=True):
        picked = [np.array(column)[rows_drawn] for column in (true, scores, weights)]
        if len(set(picked[0])) == 1:
            assert np.isnan(area)
        else:
            assert area == pytest.approx(roc_auc_score(picked[0], picked[1], sample_weight=picked[2]))


def test_infinite_scores_rank_first_and_last() -> None:
    inf = float("inf")
    assert library_area("default", [0, 0, 1, 1], [-inf, inf, inf, 3.0]) == pytest.approx(0.625)


@pytest.mark.release
def test_beyond_20_000_rows_there_is_an_interval_as_good_as_before() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 20_001)
    scores = rng.exponential(1 + true)
    limits = found_limits(true, scores)
    positives, negatives = scores[true == 1], scores[true == 0]
    placed = np.searchsorted(np.sort(negatives), positives) / len(negatives)
    passed = 1 - np.searchsorted(np.sort(positives), negatives) / len(positives)
    error = np.sqrt(placed.var(ddof=1) / len(positives) + passed.var(ddof=1) / len(negatives))  # DeLong
    assert limits["method"] == "bca"
    assert limits["standard_error"] == pytest.approx(error, rel=0.1)
    for limit, z in (("low", -1.645), ("high", 1.645)):
        assert limits[limit] == pytest.approx(placed.mean() + z * error, abs=0.25 * error)


def found_limits(true: Any, scores: Any) -> dict[str, Any]:
    result = load("roc_auc").compute(references=true, prediction_scores=scores, interval=0.9, resamples=999)
    limits: dict[str, Any] = result["interval"]["roc_auc"]
    return limits


@pytest.mark.parametrize(
    ("config", "true", "scores", "options", "message"),
    [
        ("default", [1, 1], [0.1, 0.2], {}, "class 1 has no example against it"),
        ("default", [0, 1, 2], [0.1, 0.2, 0.3], {}, "each example needs a row of scores"),
        ("default", [0, 1], [0.1, float("nan")], {}, "row 1 is nan"),
        ("default", [0, 1], [0.1, None], {}, "row 1 is missing"),
        ("default", [0, 1], [0.1, 0.3], {"max_fpr": 1.5}, "max_fpr lies above 0"),
        ("default", [0, 1], [0.1, 0.3], {"average": "mean"}, "no average 'mean'"),
        ("default", [0, 1], [0.1, 0.3], {"average": "samples"}, "needs rows of 0 and 1"),
        ("default", [0, 1], [0.1, 0.3], {"sample_weight": [1, -1]}, "sample_weight: row 1 is negative"),
        ("multiclass", [0, 1, 2], [[0.1, 0.2, 0.7]] * 3, {}, "multi_class='ovr'"),
        ("multiclass", [0, 1, 2], [[1, 2, 3]] * 3, {"multi_class": "ovr"}, "sums to 6; give probabilities"),
        ("multiclass", [0, 1, 2], [[0.1, 0.2, 0.7]] * 3, {"multi_class": "ovr", "max_fpr": 0.2}, "leave it out"),
        ("multiclass", [0, 1, 2], [[0.1, 0.2, 0.7]] * 3, {"multi_class": "ovo", "average": None}, "macro and weighted"),
        ("multiclass", [0, 1, 2], [[0.1, 0.2, 0.7]] * 3, {"multi_class": "ovr", "labels": [2, 1, 0]}, "to be sorted"),
        ("multiclass", [0, 1, 5], [[0.1, 0.2, 0.7]] * 3, {"multi_class": "ovr", "labels": [0, 1, 2]}, "the class 5"),
        ("multilabel", [[1, 0], [0, 1]], [[0.1, 0.2, 0.3]] * 2, {}, "need one shape"),
        ("multilabel", [[1, 0], [1, 1]], [[0.1, 0.2]] * 2, {}, "a class has no examples, or no example against it"),
        ("multilabel", [[1, 0], [1, 1]], [[0.1, 0.2]] * 2, {"average": "samples"}, "row 1 is all 0 or all 1"),
    ],
)
def test_what_has_no_area_is_told(config: str, true: Any, scores: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        library_area(config, true, scores, **options)
