"""Replicates of scores, against samples of rows that are written out, and against each other."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load
from dynabench.evaluate.resampling import formula_replicates, score_replicates
from dynabench.evaluate.states import Sums
from dynabench.stats.bootstrap import row_draws
from tests.evaluate.states_of import formula, systems

TRUE = np.random.default_rng(0).integers(0, 3, 300)
PREDICTED = np.where(np.random.default_rng(1).random(300) < 0.7, TRUE, 0)
RARE = np.where(np.arange(300) < 200, 0, np.arange(300))  # 100 classes of one row
GUESSED = np.where(np.random.default_rng(2).random(300) < 0.8, RARE, 0)
RARE_TAGS, GUESSED_TAGS = ([[f"T{label}", "O"] for label in column] for column in (RARE, GUESSED))


def samples(digest, n, times):
    """Numbers of rows of each replicate, shape (times, n)."""
    return np.array(list(chain.from_iterable(row_draws(digest, n, times))))


@pytest.mark.parametrize(
    ("name", "options", "columns"),
    [
        ("accuracy", {}, (PREDICTED, TRUE)),
        ("f1", {"average": "macro"}, (PREDICTED, TRUE)),
        ("f1", {"average": "macro"}, (GUESSED, RARE)),
        ("f1", {"average": "weighted"}, (GUESSED, RARE)),
        ("f1", {"average": "macro", "labels": [0, 250, 299, 1000]}, (GUESSED, RARE)),
        ("glue", {"config_name": "mrpc"}, (PREDICTED % 2, TRUE % 2)),
        ("matthews_correlation", {}, (PREDICTED, TRUE)),
        ("mse", {}, (PREDICTED + 0.5 * np.sin(np.arange(300)), TRUE)),
        ("pearsonr", {}, (PREDICTED + 0.5 * np.sin(np.arange(300)), TRUE)),
        ("spearmanr", {}, (PREDICTED + 0.5 * np.sin(np.arange(300)), TRUE)),
        ("exact_match", {}, ([f"the {label}" for label in PREDICTED], [f"the {first}" for first in TRUE])),
        ("bleu", {}, ([f"a b c d e {label} f" for label in PREDICTED], [f"a b c d e {single} f" for single in TRUE])),
        ("rouge", {}, ([f"a b {label}" for label in PREDICTED], [f"a b {candidate}" for candidate in TRUE])),
    ],
)
def test_replicates_are_the_metric_of_samples_of_the_rows(name, options, columns):
    module = load(name, **options)
    names = dict(zip(("predictions", "references"), columns, strict=True))
    replicates = score_replicates(module, names, "a digest", 12)
    for place, rows in enumerate(samples("a digest", 300, 12)):
        sample = {key: [column[row] for row in rows] for key, column in names.items()}
        whole = module.compute(**sample)
        for key, values in replicates.items():
            assert values[place] == pytest.approx(whole[key], abs=1e-12)


def test_intervals_with_many_rare_classes_contain_the_estimate():
    """A resample has no score of a class that it does not have; with 0 there, nearly all resamples were lower."""
    result = load("f1", average="macro").compute(predictions=GUESSED, references=RARE, interval=0.95)
    low, high = limits(result["interval"]["f1"])
    assert low <= result["f1"] <= high
    tags = load("poseval").compute(predictions=GUESSED_TAGS, references=RARE_TAGS, interval=0.95)
    low, high = limits(tags["interval"]["macro avg"]["f1-score"])
    assert low <= tags["macro avg"]["f1-score"] <= high


def limits(interval):
    return interval["low"], interval["high"]


@pytest.mark.release
@given(systems(), st.text(max_size=5))
def test_replicates_do_not_depend_on_the_others_the_times_or_memory(states, digest):
    for state in states:
        many, few = (formula_replicates(state, formula, digest, times)["x"] for times in (40, 13))
        assert many[:13] == pytest.approx(few, abs=1e-12, rel=1e-12)  # other shapes may be added up in another order
        assert np.array_equal(formula_replicates(state, formula, digest, 40)["x"], many)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("dynabench.stats.bootstrap.BLOCK", 7)
            patch.setattr("dynabench.evaluate.states.BLOCK", 70)
            assert formula_replicates(state, formula, digest, 40)["x"] == pytest.approx(many, abs=1e-12, rel=1e-12)


def test_two_evaluations_on_one_dataset_are_paired():
    f1 = load("f1", average="macro")
    better, worse = TRUE.copy(), TRUE.copy()
    worse[:30], better[:29] = (TRUE[:30] + 1) % 3, (TRUE[:29] + 1) % 3
    first, other = (
        score_replicates(f1, {"predictions": answer, "references": TRUE}, "x")["f1"] for answer in (better, worse)
    )
    assert (first - other).std() < first.std() / 3
    elsewhere = score_replicates(f1, {"predictions": worse, "references": TRUE}, "y")["f1"]
    assert (first - elsewhere).std() > first.std()


def test_spread_is_the_standard_error():
    right = PREDICTED == TRUE
    accuracy = score_replicates(load("accuracy"), {"predictions": PREDICTED, "references": TRUE}, "z", 20_000)[
        "accuracy"
    ]
    assert accuracy.mean() == pytest.approx(right.mean(), abs=6 * right.std() / np.sqrt(300 * 20_000))
    assert accuracy.std() == pytest.approx(right.std() / np.sqrt(300), rel=0.03)


def test_scores_of_single_classes_are_left_out():
    columns = {"predictions": PREDICTED, "references": TRUE}
    assert score_replicates(load("f1", average=None), columns, "x", 5) == {}
    assert set(score_replicates(load("f1", average="weighted"), columns, "x", 5)) == {"f1"}


def test_modules_without_a_formula_and_no_rows_are_refused():
    with pytest.raises(ValueError, match="cannot be resampled"):
        score_replicates(load("mauve"), {"predictions": ["a"], "references": ["a"]}, "x")
    with pytest.raises(ValueError, match="at least one row"):
        formula_replicates(Sums(np.ones((0, 1))), formula, "x")


def test_a_row_comes_as_often_as_any_other():
    drawn = np.bincount(samples("x", 7, 7000).ravel(), minlength=7)
    assert abs(drawn - 7000).max() < 5 * np.sqrt(7000)
