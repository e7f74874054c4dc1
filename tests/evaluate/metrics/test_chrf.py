"""chrF and chrF++ against the sacrebleu library."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import CHRF

from dynabench.evaluate import load
from tests.evaluate.real import pairs

TEXTS = st.text("ab c.!\nÀ\U0001f600", max_size=14)
CORPORA = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=2, max_size=2)), min_size=1, max_size=5)


def library(predictions: list[str], references: list[list[str]], **options) -> float:
    return CHRF(**options).corpus_score(predictions, list(zip(*references, strict=True))).score


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"word_order": 2},
        {"char_order": 0, "word_order": 3},
        {"char_order": 3, "whitespace": True, "lowercase": True},
        {"beta": 1, "eps_smoothing": True},
    ],
    ids=str,
)
def test_chrf_equals_the_library_on_real_texts(options):
    said, right = pairs(400)
    found = load("chrf").compute(predictions=said, references=right, **options)
    assert found["score"] == pytest.approx(library(said, right, **options), rel=1e-12)


def test_chrf_plus_plus_is_chrf_with_pairs_of_words():
    said, right = pairs(300)
    found = load("chrf_plus_plus").compute(predictions=said, references=right)
    assert found["score"] == pytest.approx(library(said, right, word_order=2), rel=1e-12)
    assert found == load("chrf").compute(predictions=said, references=right, word_order=2)


@settings(deadline=None)
@given(CORPORA, st.booleans(), st.booleans(), st.integers(0, 2))
def test_chrf_equals_the_library_on_odd_texts(corpus, whitespace, eps, words):
    said, right = [row[0] for row in corpus], [row[1] for row in corpus]
    options = {"whitespace": whitespace, "eps_smoothing": eps, "word_order": words, "char_order": 4}
    found = load("chrf").compute(predictions=said, references=right, **options)["score"]
    assert found == pytest.approx(library(said, right, **options), rel=1e-12, abs=1e-9)


def test_scores_per_example_are_those_of_single_sentences():
    said, right = pairs(100)
    found = load("chrf").compute(predictions=said, references=right, per_example=True)["per_example"]["score"]
    single = [CHRF().sentence_score(one, many).score for one, many in zip(said, right, strict=True)]
    assert found == pytest.approx(single, rel=1e-12)


def test_lone_surrogates_are_characters_like_others():
    found = load("chrf").compute(predictions=["a\ud800b"], references=["a\ud800b"])
    assert found["score"] == pytest.approx(100)


def test_merged_batches_of_unequal_numbers_of_references_give_the_result_of_all():
    said, right = pairs(60)
    right = [row[: 1 + place % 2] for place, row in enumerate(right)]
    chrf = load("chrf")
    parts = [chrf.state({"predictions": said[cut], "references": right[cut]}) for cut in (slice(7), slice(7, None))]
    assert chrf.result(chrf.merge(*parts)) == chrf.compute(predictions=said, references=right)


def test_an_interval_lies_around_the_score():
    said, right = pairs(300)
    found = load("chrf").compute(predictions=said, references=right, interval=0.95, resamples=999)
    assert found["interval"]["score"]["low"] < found["score"] < found["interval"]["score"]["high"]
    assert list(found["interval"]) == ["score"]
