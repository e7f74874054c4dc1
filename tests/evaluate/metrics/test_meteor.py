"""METEOR against NLTK, which takes any object as its WordNet."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import meteor_score

from dynabench.evaluate import load
from dynabench.evaluate.metrics.meteor import porter_stemmer, treebank_splitter
from tests.evaluate.real import pairs

SYNONYMS = {"car": ["auto", "run"], "auto": ["car", "machin"], "machin": ["car"], "big": ["larg", "great"]}
WORD = st.sampled_from(["car", "cars", "auto", "machine", "big", "large", "running", "run", "The", "the", "great"])
TEXTS = st.lists(WORD, max_size=8).map(" ".join)


class FakeWordNet:
    """The part of WordNet that NLTK uses."""

    def __init__(self, synonyms: dict[str, list[str]]) -> None:
        self.synonyms = synonyms

    def synsets(self, word: str) -> list[SimpleNamespace]:
        lemmas = [SimpleNamespace(name=lambda name=name: name) for name in self.synonyms.get(word, [])]
        return [SimpleNamespace(lemmas=lambda: lemmas)]


def library(prediction: str, right: list[str], split=str.split, synonyms=None, **options) -> float:
    wordnet = FakeWordNet(synonyms or {})
    return meteor_score([split(first) for first in right], split(prediction), wordnet=wordnet, **options)


@pytest.mark.release
def test_it_equals_nltk_without_synonyms_on_real_texts():
    answer, right = pairs(300)
    meteor = load("meteor").compute(predictions=answer, references=right, per_example=True)["per_example"]["meteor"]
    assert meteor == pytest.approx(
        [library(*row, treebank_splitter()) for row in zip(answer, right, strict=True)], rel=1e-12
    )


@settings(deadline=None)
@given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
def test_it_equals_nltk_with_synonyms(prediction, right):
    result = load("meteor").compute(
        predictions=[prediction], references=[right], synonyms=lambda word: SYNONYMS.get(word, []), tokenizer="none"
    )
    assert result["meteor"] == pytest.approx(library(prediction, right, synonyms=SYNONYMS), rel=1e-12)


@settings(deadline=None)
@given(TEXTS, TEXTS, st.floats(0, 1), st.floats(0.1, 4), st.floats(0, 1))
def test_weights_are_nltks(prediction, right, alpha, beta, gamma):
    options = {"alpha": alpha, "beta": beta, "gamma": gamma}
    result = load("meteor").compute(predictions=[prediction], references=[right], tokenizer="none", **options)
    assert result["meteor"] == pytest.approx(library(prediction, [right], **options), rel=1e-12)


def test_a_synonym_raises_the_score_and_the_default_knows_none():
    meteor = load("meteor")
    columns = {"predictions": ["a large car"], "references": ["a large auto"]}
    with_them = meteor.compute(**columns, synonyms=lambda word: {"car": ["auto"]}.get(word, []))
    assert with_them["meteor"] > meteor.compute(**columns)["meteor"] > 0


def test_nothing_in_common_scores_zero():
    meteor = load("meteor")
    assert meteor.compute(predictions=["x", ""], references=["y", ""]) == {"meteor": 0.0}


def test_wordnet_is_asked_for_by_name_and_told_where_it_is_missing(monkeypatch):
    import nltk

    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(ValueError, match="needs NLTK's corpus wordnet, which is not here"):
        load("meteor").compute(predictions=["a"], references=["a"], synonyms="wordnet")
    with pytest.raises(ValueError, match="no synonyms 'thesaurus'"):
        load("meteor").compute(predictions=["a"], references=["a"], synonyms="thesaurus")


def test_an_installed_wordnet_gives_single_words_of_its_synsets(monkeypatch):
    from nltk import corpus

    sets = {"car": [["car", "auto", "motor_car"], ["cable_car"]]}
    fake = SimpleNamespace(
        synsets=lambda word: [SimpleNamespace(lemma_names=lambda names=names: names) for names in sets.get(word, [])]
    )
    monkeypatch.setattr(corpus, "wordnet", fake)
    result = load("meteor").compute(predictions=["car car"], references=["auto auto"], synonyms="wordnet")
    assert result["meteor"] == pytest.approx(1 - 0.5 / 8)


def test_sentences_within_a_text_end_words():
    assert treebank_splitter()("It rains. It pours!") == ["It", "rains", ".", "It", "pours", "!"]
    assert porter_stemmer()("rains") == "rain"
