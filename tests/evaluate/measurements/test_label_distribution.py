"""Label distributions, against scipy and counting."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from dynabench.evaluate import load
from tests.evaluate import real

LABELS = st.lists(st.integers(-3, 3), min_size=1, max_size=30)


@given(LABELS)
def test_fractions_and_skewness_are_counting_and_scipy(data):
    result = load("label_distribution").compute(data=data)
    counts = Counter(data)
    assert result["label_distribution"]["labels"] == list(counts)
    assert result["label_distribution"]["fractions"] == pytest.approx([count / len(data) for count in counts.values()])
    expected = stats.skew(data) if len(counts) > 1 else 0.0
    assert result["label_skew"] == pytest.approx(expected, abs=1e-9)


def test_texts_are_numbered_by_their_first_example():
    data = ["no", "yes", "yes", "maybe", "no", "no"]
    result = load("label_distribution").compute(data=data)
    assert result["label_distribution"]["labels"] == ["no", "yes", "maybe"]
    assert result["label_skew"] == pytest.approx(stats.skew([0, 1, 1, 2, 0, 0]))


@given(LABELS, LABELS)
def test_merged_batches_are_all_rows(first, second):
    module = load("label_distribution")
    merged = module.merge(module.state({"data": first}), module.state({"data": second}))
    assert module.result(merged) == module.compute(data=first + second)


def test_texts_do_not_merge_with_numbers():
    module = load("label_distribution")
    with pytest.raises(ValueError, match="some labels are texts"):
        module.merge(module.state({"data": ["a"]}), module.state({"data": [1]}))


def test_real_labels_have_an_interval_for_each_label():
    data = [row["label"] for row in real.rows("stormfront/all.jsonl.gz")]
    result = load("label_distribution").compute(data=data, interval=0.95, method="percentile", resamples=2000)
    spread = result["label_distribution"]
    assert sum(spread["fractions"]) == pytest.approx(1)
    for place, (label, fraction) in enumerate(zip(spread["labels"], spread["fractions"], strict=True)):
        assert fraction == data.count(label) / len(data)
        error = np.sqrt(fraction * (1 - fraction) / len(data))
        assert result["interval"]["fractions"]["standard_error"][place] == pytest.approx(error, rel=0.1)


@given(LABELS)
def test_skewness_changes_its_sign_with_the_labels(data):
    assume(len(set(data)) > 1)
    first, other = (
        load("label_distribution").compute(data=labels)["label_skew"] for labels in (data, [-x for x in data])
    )
    assert first == pytest.approx(-other, abs=1e-9)
