"""GLEU against NLTK."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.gleu_score import corpus_gleu, sentence_gleu

from dynabench.evaluate import load
from tests.evaluate.real import pairs

TEXTS = st.lists(st.sampled_from("abc"), max_size=8).map(" ".join)
CORPORA = st.lists(st.tuples(TEXTS, st.lists(TEXTS, min_size=1, max_size=3)), min_size=1, max_size=6)
LENGTHS = st.tuples(st.integers(1, 3), st.integers(0, 3)).map(lambda two: (two[0], sum(two)))
MORE = [
    "It is a guide to action that ensures that the rubber duck will never heed the cat commands",
    "It is the practical guide for the rubber duck army never to heed the directions of the cat",
]


def library(predictions: list[str], references: list[list[str]], **options) -> float:
    return corpus_gleu(
        [[first.split() for first in row] for row in references], [s.split() for s in predictions], **options
    )


@settings(deadline=None)
@given(CORPORA, LENGTHS)
def test_it_equals_nltk_on_odd_texts(corpus, lengths):
    answer, right = [row[0] for row in corpus], [row[1] for row in corpus]
    options = {"min_len": lengths[0], "max_len": lengths[1]}
    result = load("google_bleu").compute(predictions=answer, references=right, **options)
    assert result["google_bleu"] == pytest.approx(library(answer, right, **options), abs=1e-15)


def test_it_equals_nltk_on_real_texts_as_a_whole_and_for_each():
    answer, right = pairs(500)
    result = load("google_bleu").compute(predictions=answer, references=right, tokenizer="none", per_example=True)
    assert result["google_bleu"] == pytest.approx(library(answer, right), rel=1e-12)
    single = [
        sentence_gleu([first.split() for first in many], text.split()) for text, many in zip(answer, right, strict=True)
    ]
    assert result["per_example"]["google_bleu"] == pytest.approx(single, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "published"), [({}, 0.61), ({"min_len": 2}, 0.53), ({"min_len": 2, "max_len": 6}, 0.4)], ids=str
)
def test_it_gives_the_published_values_for_several_references(options, published):
    gleu = load("google_bleu")
    ducks = gleu.card.examples[0].inputs
    right = [[ducks["references"][0][0], *MORE], ducks["references"][1]]
    result = gleu.compute(predictions=ducks["predictions"], references=right, **options)
    assert round(result["google_bleu"], 2) == published


def test_texts_without_n_grams_count_nothing():
    gleu = load("google_bleu")
    assert gleu.compute(predictions=[""], references=[""]) == {"google_bleu": 0.0}
    assert gleu.compute(predictions=["", "a b"], references=["", "a b"]) == {"google_bleu": 1.0}
