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
    answer, right = pairs(400)
    result = load("chrf").compute(predictions=answer, references=right, **options)
    assert result["score"] == pytest.approx(library(answer, right, **options), rel=1e-12)


def test_chrf_plus_plus_is_chrf_with_pairs_of_words():
    answer, right = pairs(300)
    result = load("chrf_plus_plus").compute(predictions=answer, references=right)
    assert result["score"] == pytest.approx(library(answer, right, word_order=2), rel=1e-12)
    assert result == load("chrf").compute(predictions=answer, references=right, word_order=2)


@settings(deadline=None)
@given(CORPORA, st.booleans(), st.booleans(), st.integers(0, 2))
def test_chrf_equals_the_library_on_odd_texts(corpus, whitespace, eps, words):
    answer, right = [row[0] for row in corpus], [row[1] for row in corpus]
    options = {"whitespace": whitespace, "eps_smoothing": eps, "word_order": words, "char_order": 4}
    score = load("chrf").compute(predictions=answer, references=right, **options)["score"]
    assert score == pytest.approx(library(answer, right, **options), rel=1e-12, abs=1e-9)


def test_scores_per_example_are_those_of_single_sentences():
    answer, right = pairs(100)
    result = load("chrf").compute(predictions=answer, references=right, per_example=True)["per_example"]["score"]
    single = [CHRF().sentence_score(first, many).score for first, many in zip(answer, right, strict=True)]
    assert result == pytest.approx(single, rel=1e-12)


def test_lone_surrogates_are_characters_like_others():
    result = load("chrf").compute(predictions=["a\ud800b"], references=["a\ud800b"])
    assert result["score"] == pytest.approx(100)


def test_merged_batches_of_unequal_numbers_of_references_give_the_result_of_all():
    answer, right = pairs(60)
    right = [row[: 1 + place % 2] for place, row in enumerate(right)]
    chrf = load("chrf")
    parts = [chrf.state({"predictions": answer[cut], "references": right[cut]}) for cut in (slice(7), slice(7, None))]
    assert chrf.result(chrf.merge(*parts)) == chrf.compute(predictions=answer, references=right)


def test_an_interval_lies_around_the_score():
    answer, right = pairs(300)
    result = load("chrf").compute(predictions=answer, references=right, interval=0.95, resamples=999)
    assert result["interval"]["score"]["low"] < result["score"] < result["interval"]["score"]["high"]
    assert list(result["interval"]) == ["score"]
