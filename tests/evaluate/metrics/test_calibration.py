"""Calibration errors, against a plain computation bin by bin."""

from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from dynabench.evaluate import load

NAMES = ("expected_calibration_error", "maximum_calibration_error")
confidence = st.one_of(st.integers(0, 10).map(lambda tenth: tenth / 10), st.floats(0, 1))
rows = st.lists(st.tuples(confidence, st.integers(0, 1), st.floats(0.1, 5)), min_size=1, max_size=30)


def plain(groups: Any) -> tuple[float, float]:
    """Expected and maximum error of groups of (confidence, right, weight)."""
    gaps, weights = [], []
    for group in groups:
        answer, right, weight = (np.array(column) for column in zip(*group, strict=True))
        gaps.append(abs(np.average(answer, weights=weight) - np.average(right, weights=weight)))
        weights.append(weight.sum())
    return float(np.average(gaps, weights=weights)), max(gaps)


def compute(name: str, rows: Any, weighted: bool = True, **options: Any) -> Any:
    answer, right, weight = (list(column) for column in zip(*rows, strict=True))
    values = {"sample_weight": weight} if weighted else {}
    return load(name).compute(predictions=answer, references=right, **values, **options)


@given(rows, st.integers(1, 15), st.booleans())
def test_bins_of_equal_width_equal_the_plain_computation(rows: Any, n_bins: int, weighted: bool) -> None:
    edges = np.linspace(0, 1, n_bins + 1)
    groups: dict[int, list[Any]] = {}
    for answer, right, weight in rows:
        place = next(k for k in range(n_bins) if answer <= edges[k + 1])
        groups.setdefault(place, []).append((answer, right, weight if weighted else 1.0))
    expected = plain(groups.values())
    for name, value in zip(NAMES, expected, strict=True):
        result = compute(name, rows, weighted, n_bins=n_bins)
        assert result[name] == pytest.approx(value, abs=1e-9)
        assert [bool(single["count"]) for single in result["bins"]] == [k in groups for k in range(n_bins)]
        assert [first["low"] for first in result["bins"]] == pytest.approx(edges[:-1])


@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 10**6))
def test_bins_of_equal_mass_hold_as_many_each(n_bins: int, per_bin: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    answer = rng.permutation(np.linspace(0.013, 0.987, n_bins * per_bin))
    right = rng.integers(0, 2, len(answer))
    rows = list(zip(answer.tolist(), right.tolist(), np.ones(len(answer)).tolist(), strict=True))
    groups = [[rows[row] for row in part] for part in np.array_split(np.argsort(answer), n_bins)]
    for name, value in zip(NAMES, plain(groups), strict=True):
        result = compute(name, rows, False, n_bins=n_bins, binning="mass")
        assert result[name] == pytest.approx(value, abs=1e-9)
        assert [first["count"] for first in result["bins"]] == [per_bin] * n_bins
        assert [single["high"] for single in result["bins"]] == [max(group)[0] for group in groups]


@given(rows, st.integers(1, 8), st.sampled_from(["width", "mass"]))
def test_bins_hold_all_examples_and_give_the_errors(rows: Any, n_bins: int, binning: str) -> None:
    results = [compute(name, rows, n_bins=n_bins, binning=binning) for name in NAMES]
    bins = results[0]["bins"]
    assert sum(single["count"] for single in bins) == pytest.approx(sum(row[2] for row in rows))
    full = [this_bin for this_bin in bins if this_bin["count"]]
    gaps = [abs(candidate["confidence"] - candidate["accuracy"]) for candidate in full]
    assert results[0][NAMES[0]] == pytest.approx(np.average(gaps, weights=[item["count"] for item in full]), abs=1e-9)
    assert results[1][NAMES[1]] == pytest.approx(max(gaps), abs=1e-9)
    for first in full:
        assert first["low"] - 1e-9 <= first["confidence"] <= first["high"] + 1e-9


@given(rows, st.randoms(use_true_random=False), st.sampled_from(["width", "mass"]))
def test_the_order_of_rows_does_not_matter(rows: Any, shuffler: Any, binning: str) -> None:
    other = list(rows)
    shuffler.shuffle(other)
    first, second = (compute(NAMES[0], single, binning=binning)[NAMES[0]] for single in (rows, other))
    assert first == pytest.approx(second, abs=1e-9)


@given(rows, rows)
def test_merged_batches_equal_all_rows(first: Any, second: Any) -> None:
    module = load(NAMES[0], binning="mass")
    columns = [
        dict(zip(("predictions", "references", "sample_weight"), map(list, zip(*part, strict=True)), strict=True))
        for part in (first, second, first + second)
    ]
    merged = module.merge(*(module.state(column) for column in columns[:2]))
    assert module.result(merged, binning="mass")[NAMES[0]] == module.compute(**columns[2])[NAMES[0]]


def test_rows_of_probabilities_are_judged_by_their_highest() -> None:
    answer = [[0.7, 0.2, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]]
    for name in NAMES:
        of_rows = load(name).compute(predictions=answer, references=["c", "b", "a"], labels=["c", "a", "b"])
        assert of_rows == load(name).compute(predictions=[0.7, 0.8, 0.4], references=[1, 1, 1])


def test_a_calibrated_forecast_of_many_has_nearly_no_error() -> None:
    rng = np.random.default_rng(0)
    answer = rng.random(200_000)
    right = (rng.random(200_000) < answer).astype(int)
    for binning in ("width", "mass"):
        assert load(NAMES[0]).compute(predictions=answer, references=right, binning=binning)[NAMES[0]] < 0.005


@pytest.mark.release
@pytest.mark.parametrize("name", NAMES)
def test_the_interval_is_that_of_scipy(name: str) -> None:
    rng = np.random.default_rng(1)
    answer = np.round(rng.random(100), 2)
    right = (rng.random(100) < answer**2).astype(int)
    result = load(name, n_bins=4).compute(predictions=answer, references=right, interval=0.9, method="percentile")
    edges = np.linspace(0, 1, 5)

    def error(predictions: Any, right: Any) -> float:
        places = np.digitize(predictions, edges[1:-1], right=True)
        groups = [[(predictions[i], right[i], 1.0) for i in np.flatnonzero(places == k)] for k in set(places)]
        return plain(groups)[NAMES.index(name)]

    expected = scipy.stats.bootstrap(
        (answer, right),
        error,
        paired=True,
        vectorized=False,
        n_resamples=999,
        confidence_level=0.9,
        random_state=rng,
        method="percentile",
    )
    span = result["interval"][name]
    assert span["low"] == pytest.approx(expected.confidence_interval.low, abs=0.015)
    assert span["high"] == pytest.approx(expected.confidence_interval.high, abs=0.015)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("predictions", "right", "options", "message"),
    [
        ([1.1], [1], {}, "row 0 is 1.1, which is no probability"),
        ([0.5, float("nan")], [1, 1], {}, "row 1 is nan"),
        ([0.5], [2], {}, "row 0 is 2, which is none of 0, 1"),
        ([0.5], ["yes"], {}, "row 0 is 'yes', which is none of 0, 1"),
        ([0.5], [1], {"n_bins": 0}, "n_bins is at least 1"),
        ([0.5], [1], {"binning": "even"}, "binning is 'width' or 'mass'"),
        ([[0.5, 0.1]], [1], {}, "row 0 sums to 0.6"),
        ([[0.5, 0.5]], ["a"], {"labels": ["a", "b", "c"]}, "3 labels but 2 probabilities"),
        ([0.5], ["a"], {"labels": ["a"]}, "needs two labels"),
        ([0.5], [1], {"sample_weight": [-1]}, "sample_weight: row 0 is negative"),
    ],
)
def test_what_has_no_calibration_is_told(name: str, predictions: Any, right: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load(name).compute(predictions=predictions, references=right, **options)
