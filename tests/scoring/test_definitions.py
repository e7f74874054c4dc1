"""Meaning of scores, against independent definitions: slices, calibration, perturbed copies, paired tests."""

from math import erfc, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dynabench.benchmark.evaluations import costs, score_computation
from dynabench.benchmark.evaluations.answers import AnswerColumns
from dynabench.benchmark.leaderboards.comparison import paired_difference, significance
from dynabench.people.disclosure import Disclosure
from dynabench.tasks import shipped_tasks

FIELDS = {shipped.config.id: shipped.config.answer[0] for shipped in shipped_tasks()}
DIGEST = "0" * 64


def spans(*texts):
    return [{"start": 0, "end": len(text), "text": text} for text in texts]


def labels(predictions, right, **more):
    return AnswerColumns(FIELDS["sentiment"], predictions=list(predictions), right=[[item] for item in right], **more)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=400))
def test_mcnemars_test_is_the_one_of_two_sided_binomials_or_the_chi_square(pairs):
    a, b = np.array(pairs, np.float32).T
    only_a, only_b = int((a > b).sum()), int((b > a).sum())
    name, p = significance(a, b)
    assert name == "mcnemar"
    if only_a + only_b < 25:
        assert p == pytest.approx(stats.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0)
    else:
        squared = (abs(only_a - only_b) - 1) ** 2 / (only_a + only_b)
        plain = (only_a - only_b) ** 2 / (only_a + only_b)
        assert any(p == pytest.approx(stats.chi2.sf(item, 1)) for item in (squared, plain))


@pytest.mark.slow
def test_shares_of_rows_are_tested_as_by_scipys_permutation_test():
    rng = np.random.default_rng(1)
    a, b = rng.uniform(size=80).astype(np.float32), rng.uniform(size=80).astype(np.float32) - 0.12
    name, p = significance(a, b)
    theirs = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=20_000, rng=rng
    ).pvalue
    assert name == "approximate_randomization"
    assert p == pytest.approx(theirs, abs=0.03)


def test_the_paired_normal_test_agrees_with_scipys_t_test_where_rows_are_many():
    rng = np.random.default_rng(2)
    a, b = rng.random(2000) < 0.8, rng.random(2000) < 0.78
    rows = rng.integers(2000, size=(1000, 2000))
    p = paired_difference(a[rows].mean(1), b[rows].mean(1), a.mean() - b.mean())[2]
    assert p == pytest.approx(stats.ttest_rel(a.astype(float), b.astype(float)).pvalue, abs=0.03)
    z = abs(a.mean() - b.mean()) / (a[rows].mean(1) - b[rows].mean(1)).std(ddof=1)
    assert p == pytest.approx(erfc(z / sqrt(2)))


def test_a_slice_of_one_label_has_the_share_of_right_answers_and_no_f1():
    rows = labels(["positive", "negative", "positive"], ["positive"] * 3, places={"good": [0, 1, 2]})
    created = list(score_computation.slice_scores(["accuracy", "f1"], rows, Disclosure.at_most("public")))
    assert [(item.metric, item.value, item.n) for item in created] == [("accuracy", 2 / 3, 3)]
    low, high = stats.binomtest(2, 3).proportion_ci(method="wilson")
    assert (created[0].low, created[0].high) == pytest.approx((low, high), abs=1e-9)


def test_the_calibration_error_is_the_mean_distance_of_sureness_and_rightness_in_ten_bins():
    rng = np.random.default_rng(3)
    sure = rng.uniform(0.34, 1, 500)
    hit = rng.random(500) < sure**2
    chances = [{"positive": p, "negative": (1 - p) * 0.6, "neutral": (1 - p) * 0.4} for p in sure]
    texts = ["positive" if chance["positive"] == max(chance.values()) else "negative" for chance in chances]
    rows = labels(texts, [s if h else "mixed" for s, h in zip(texts, hit, strict=True)], chances=chances)
    most = np.array([max(item.values()) for item in chances])
    bins = np.minimum((np.ceil(most * 10) - 1).astype(int), 9)
    expected = sum(abs((most - hit)[bins == at].mean()) * (bins == at).mean() for at in range(10) if (bins == at).any())
    [created] = score_computation.calibration_score(rows, DIGEST)
    assert created.value == pytest.approx(expected)


def test_unchanged_answers_are_those_of_the_model_itself_and_the_score_is_about_what_is_right():
    own = labels(["positive", "negative"], ["negative", "negative"], uids=["x", "y"])
    copies = labels(["positive"] * 3, ["negative"] * 3, originals=["x", "x", "y"])
    created = {
        twin_score.metric: twin_score.value
        for twin_score in score_computation.twin_scores("robustness", "accuracy", own, copies, DIGEST)
    }
    assert created == {"robustness": 0.5, "robustness_score": 0.0}, "wrong as ever is unchanged; originals count alike"


def test_five_originals_whose_answers_never_change_do_not_make_a_model_steady_for_certain():
    uids = list("abcde")
    own, copies = (
        labels(["neutral"] * 5, ["neutral"] * 5, uids=uids),
        labels(["neutral"] * 10, ["neutral"] * 10, originals=uids * 2),
    )
    fairness = {
        twin_score.metric: twin_score
        for twin_score in score_computation.twin_scores("fairness", "accuracy", own, copies, DIGEST)
    }["fairness"]
    t = 2.776  # Student's with 4 degrees of freedom, at 97.5 %
    assert (fairness.value, fairness.high, fairness.n) == (1.0, 1.0, 5)
    assert fairness.low == pytest.approx(5 / (5 + t**2), abs=1e-3), "Wilson's lower limit of 5 out of 5"


def test_unchanged_marked_texts_have_the_same_words_in_all_their_parts():
    own = AnswerColumns(FIELDS["qa"], predictions=[spans("the Red car", "bus"), spans("car"), []],
                   right=[[spans("bus"), spans("red car")]] * 3, uids=["x", "y", "z"])  # fmt: skip
    copies = AnswerColumns(
        FIELDS["qa"],
        predictions=[spans("red car!", "a bus"), spans("red car", "train"), spans("red car"), spans("car"), []],
        right=[[spans("bus"), spans("red car")]] * 5,
        originals=["x", "x", "x", "y", "z"],
    )
    created = {
        twin_score.metric: twin_score
        for twin_score in score_computation.twin_scores("robustness", "f1", own, copies, DIGEST)
    }
    assert created["robustness"].value == pytest.approx((1 / 3 + 1 + 1) / 3)
    assert created["robustness_score"].value == pytest.approx((1 + 1 + 1 + 2 / 3 + 0) / 5), (
        "the nearest accepted answer"
    )


def test_the_calmest_repeats_of_a_cost_are_kept(monkeypatch):
    """Disturbed repeats are made again, twice the number at most, and only the calmest count."""

    def costs_of(*others):
        created = iter([{"throughput": 100.0 * (1 - load), "others": load} for load in others])
        monkeypatch.setattr(costs, "_once", lambda model, rows: next(created))
        result = {item["metric"]: item for item in costs._repeated(None, [None] * 10)}
        assert next(created, None) is None, "no repeat more or less than were needed"
        return result["throughput"]["repeats"], result["throughput"]["value"]

    assert costs_of(0.0, 0.05, 0.1) == ([100, 95, 90], 95)
    assert costs_of(0.5, 0.0, 0.9, 0.08, 0.02) == ([100, 98, 92], 98)
    repeats, value = costs_of(0.9, 0.8, 0.3, 0.4, 0.05, 0.7)
    assert repeats == pytest.approx([95, 70, 60])
    assert value == pytest.approx(70)
