"""NIST against NLTK, its tokeniser with Unicode's own categories in place of a corpus."""

import sys
import unicodedata
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.nist_score import corpus_nist

from dynabench.evaluate import load
from dynabench.evaluate.tokens import nist_tokens
from tests.evaluate.real import pairs

TEXTS = st.lists(st.sampled_from("abcd"), min_size=2, max_size=7).map(" ".join)
CORPORA = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=5)


def library(predictions: list[str], references: list[list[str]], n: int = 5) -> float:
    return corpus_nist(
        [[nist_tokens(first) for first in row] for row in references],
        [nist_tokens(prediction) for prediction in predictions],
        n,
    )


@pytest.mark.parametrize("n", [1, 3, 5])
def test_it_equals_nltk_on_real_texts(n):
    answer, right = pairs(500)
    nist_mt = load("nist_mt").compute(predictions=answer, references=right, n=n)["nist_mt"]
    assert nist_mt == pytest.approx(library(answer, right, n), rel=1e-9)


@settings(deadline=None)
@given(CORPORA)
def test_it_equals_nltk_on_odd_texts_of_one_reference(corpus):
    # among several that hit as much, NLTK's choice hangs on the last digit of a sum
    answer, right = [row[0] for row in corpus], [row[1][:1] for row in corpus]
    nist_mt = load("nist_mt").compute(predictions=answer, references=right, n=2)["nist_mt"]
    assert nist_mt == pytest.approx(library(answer, right, 2), rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(CORPORA, st.integers(0, 5))
def test_batches_merge_to_the_information_of_all_references(corpus, cut):
    answer, right = [row[0] for row in corpus], [row[1] for row in corpus]
    module = load("nist_mt")
    cut = min(cut, len(answer) - 1)
    if not cut:
        return
    parts = [module.state({"predictions": answer[s], "references": right[s]}) for s in (slice(cut), slice(cut, None))]
    whole = module.compute(predictions=answer, references=right)
    assert module.result(module.merge(*parts))["nist_mt"] == pytest.approx(whole["nist_mt"], rel=1e-12)


def test_batches_alone_know_less_than_all_of_them():
    answer, right = pairs(50)
    others = [f"other{n} words{n} of{n} another{n} kind{n}" for n in range(50)]
    both = [*answer, *others], [*right, *([other] for other in others)]
    module = load("nist_mt")
    half, whole = (
        module.compute(predictions=first, references=other, per_example=True)["per_example"]["nist_mt"][:50]
        for first, other in ((answer, right), both)
    )
    assert np.mean(whole) > np.mean(half)  # a word is rarer among twice as many references


def test_states_of_different_orders_do_not_merge():
    module = load("nist_mt")
    columns = {"predictions": ["a b"], "references": ["a b"]}
    with pytest.raises(ValueError, match="n=5 and n=2"):
        module.merge(module.state(columns), module.state(columns, n=2))


def test_a_resample_is_the_score_of_the_rows_drawn():
    answer, right = pairs(40)
    module = load("nist_mt")
    state = module.state({"predictions": answer, "references": right})
    rows = np.random.default_rng(0).integers(0, 40, (3, 40))
    drawn = module.formula(state.at(rows))["nist_mt"]
    for places, score in zip(rows.tolist(), drawn, strict=True):
        copied = library([answer[place] for place in places], [right[place] for place in places])
        assert score == pytest.approx(copied, rel=1e-9)


def test_an_interval_lies_around_the_score():
    answer, right = pairs(150)
    result = load("nist_mt").compute(predictions=answer, references=right, interval=0.9, resamples=400)
    span = result["interval"]["nist_mt"]
    assert span["low"] < result["nist_mt"] < span["high"]


@cache
def nltk_tokenizer():
    """NLTK's class, whose body reads a corpus of Unicode properties that is not here."""
    from nltk import corpus

    class Properties:
        def chars(self, category: str) -> list[str]:
            return [
                first for first in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(first)[0] == category[0]
            ]

    real, corpus.perluniprops = corpus.perluniprops, Properties()
    try:
        from nltk.tokenize.nist import NISTTokenizer
    finally:
        corpus.perluniprops = real
    return NISTTokenizer()


TEXT = st.text("ab1 .,-'\"()$&;#\n\u2028é楽", max_size=20) | st.sampled_from(["&lt;<skipped>&apos;&#91;x", "&amp;lt;"])


@pytest.mark.release
@settings(deadline=None)
@given(TEXT, st.booleans(), st.booleans())
def test_the_tokeniser_is_nltks(text, lower, western):
    result = nist_tokens(text, lower, western)
    assert result == nltk_tokenizer().tokenize(text, lowercase=lower, western_lang=western)


def test_case_is_ignored_where_asked_for():
    module = load("nist_mt")
    columns = {"predictions": ["The cat sat ."], "references": ["the Cat sat ."]}
    assert module.compute(**columns, lowercase=True)["nist_mt"] > module.compute(**columns)["nist_mt"]
