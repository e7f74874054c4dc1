"""Fleiss' kappa against statsmodels, Krippendorff's alpha against the library krippendorff and published values."""

from typing import Any

import krippendorff
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

from dynabench.evaluate import load

LEVELS = ("nominal", "ordinal", "interval", "ratio")
OBSERVERS = [  # Krippendorff's four observers of twelve units
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]
answer = st.one_of(st.none(), st.integers(0, 4), st.sampled_from([0.5, 2.25]))


def alpha(rows: Any, **options: Any) -> Any:
    return load("krippendorff_alpha").compute(ratings=rows, **options)["krippendorff_alpha"]


@pytest.mark.parametrize(("level", "value"), list(zip(LEVELS, (0.743, 0.815, 0.849, 0.797), strict=True)))
def test_alpha_has_its_published_values(level: str, value: float) -> None:
    assert alpha(list(zip(*OBSERVERS, strict=True)), level=level) == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize("level", LEVELS)
@given(rows=st.lists(st.lists(answer, min_size=3, max_size=3), min_size=1, max_size=10))
def test_alpha_equals_the_library(level: str, rows: Any) -> None:
    table = np.array(rows, float).T
    counted = [mark for row in rows if sum(value is not None for value in row) > 1 for mark in row if mark is not None]
    if len(set(counted)) < 2:
        with pytest.raises(ValueError, match="alpha is undefined"):
            alpha(rows, level=level)
        return
    assert alpha(rows, level=level) == pytest.approx(krippendorff.alpha(table, level_of_measurement=level), abs=1e-9)


def test_ranks_of_texts_follow_their_labels() -> None:
    rows = [["low", "low"], ["high", "high"], ["mid", "high"], ["low", "mid"]]
    labels = ["low", "mid", "high"]
    numbers = [[labels.index(first) for first in row] for row in rows]
    expected = krippendorff.alpha(np.array(numbers).T, level_of_measurement="ordinal")
    assert alpha(rows, level="ordinal", labels=labels) == pytest.approx(expected)


@given(st.lists(st.lists(answer, min_size=2, max_size=4), min_size=2, max_size=8), st.integers(1, 7))
def test_merged_batches_equal_all_items(rows: Any, cut: int) -> None:
    module, cut = load("krippendorff_alpha", level="ordinal"), min(cut, len(rows) - 1)
    merged = module.merge(*(module.state({"ratings": part}) for part in (rows[:cut], rows[cut:])))
    try:
        whole = module.compute(ratings=rows)
    except ValueError:
        with pytest.raises(ValueError, match="alpha is undefined"):
            module.result(merged, level="ordinal")
        return
    assert module.result(merged, level="ordinal")["krippendorff_alpha"] == pytest.approx(whole["krippendorff_alpha"])


@pytest.mark.parametrize("level", LEVELS)
def test_the_interval_of_alpha_draws_items(level: str) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 5, 50)
    table = np.where(rng.random((3, 50)) < 0.75, truth, rng.integers(1, 5, (3, 50))).astype(float)
    result = load("krippendorff_alpha", level=level).compute(ratings=table.T, interval=0.9)["interval"]
    expected = scipy.stats.bootstrap(
        (np.arange(50),),
        lambda items: krippendorff.alpha(table[:, items], level_of_measurement=level),
        vectorized=False,
        n_resamples=999,
        confidence_level=0.9,
        random_state=rng,
    )
    span = result["krippendorff_alpha"]
    assert span["low"] == pytest.approx(expected.confidence_interval.low, abs=0.02)
    assert span["high"] == pytest.approx(expected.confidence_interval.high, abs=0.02)


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([[1, 1], [1, 1]], {}, "alpha is undefined"),
        ([[1, None], [2, None]], {}, "no item has two answers"),
        ([["a", 1]], {}, "row 0: some labels are texts and some numbers"),
        ([["a", "b"]], {"level": "ratio"}, "level='ratio' needs numbers"),
        ([["a", "b"]], {"level": "ordinal"}, "in the order of the scale"),
        ([["a", "b"]], {"level": "ordinal", "labels": ["a"]}, "the answer 'b' is none of labels"),
        ([[-1, 2]], {"level": "ratio"}, "needs numbers from 0, not -1"),
        ([[1, 2]], {"level": "metric"}, "level is one of nominal, ordinal, interval, ratio"),
        ([[1, float("inf")]], {}, "row 0 holds inf"),
        ([[1, [2]]], {}, r"row 0 holds \[2\]"),
        (["ab"], {}, "give a list with the answers to each item"),
        ([3], {}, "give a list with the answers to each item"),
    ],
)
def test_what_has_no_alpha_is_told(rows: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        alpha(rows, **options)


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=15))
def test_fleiss_kappa_equals_statsmodels(rows: Any) -> None:
    module = load("fleiss_kappa")
    if len({single for row in rows for single in row}) == 1:
        with pytest.raises(ValueError, match="kappa is undefined"):
            module.compute(ratings=rows)
        return
    expected = fleiss_kappa(aggregate_raters(np.array(rows))[0])
    assert module.compute(ratings=rows)["fleiss_kappa"] == pytest.approx(expected, abs=1e-12)
    texts = [[f"class {first}" for first in row] for row in rows]
    assert module.compute(ratings=texts)["fleiss_kappa"] == pytest.approx(expected, abs=1e-12)


def test_fleiss_kappa_has_its_published_value() -> None:
    table = [  # 14 raters of 10 subjects in 5 categories, in Fleiss' manner: kappa 0.210
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    rows = [[category for category, times in enumerate(row) for _ in range(times)] for row in table]
    assert load("fleiss_kappa").compute(ratings=rows)["fleiss_kappa"] == pytest.approx(0.20993, abs=1e-5)


def test_the_interval_of_fleiss_kappa_draws_items() -> None:
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 60)
    table = np.where(rng.random((4, 60)) < 0.7, truth, rng.integers(0, 3, (4, 60))).T
    span = load("fleiss_kappa").compute(ratings=table, interval=0.9)["interval"]["fleiss_kappa"]
    counts = aggregate_raters(table)[0]
    expected = scipy.stats.bootstrap(
        (np.arange(60),),
        lambda items: fleiss_kappa(counts[items]),
        vectorized=False,
        n_resamples=999,
        confidence_level=0.9,
        random_state=rng,
    )
    assert span["low"] == pytest.approx(expected.confidence_interval.low, abs=0.015)
    assert span["high"] == pytest.approx(expected.confidence_interval.high, abs=0.015)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, 2], [1, None]], "row 1 lacks an answer; drop the item, or take krippendorff_alpha"),
        ([[1, 2, 2], [1, 2]], "row 1 has 2 ratings, row 0 has 3"),
        ([[1], [2]], "two ratings or more"),
        ([[], []], "two ratings or more"),
    ],
)
def test_what_has_no_fleiss_kappa_is_told(rows: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load("fleiss_kappa").compute(ratings=rows)


def test_batches_of_other_numbers_of_raters_do_not_merge_silently() -> None:
    module = load("fleiss_kappa")
    states = [module.state({"ratings": rows}) for rows in ([[1, 2]], [[1, 2, 2]])]
    with pytest.raises(ValueError, match="different numbers of ratings"):
        module.result(module.merge(*states))
