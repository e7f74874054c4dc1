"""word_count, word_length and text_duplicates, against scikit-learn, NLTK, counting and real texts."""

import hashlib
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from sklearn.feature_extraction.text import CountVectorizer

from dynabench.evaluate import load
from dynabench.evaluate.tokens import near_duplicate_groups, word_tokens
from tests.evaluate import real

TEXTS = st.lists(st.text("ab .é'1", max_size=12), min_size=1, max_size=8)


def posts() -> list[str]:
    return [row["text"] for row in real.rows("stormfront/all.jsonl.gz")]


@pytest.mark.release
@pytest.mark.parametrize("most", [None, 1, 50])
def test_real_words_are_counted_as_scikit_learn_counts_them(most):
    matrix = CountVectorizer(max_features=most).fit_transform(posts())
    result = load("word_count").compute(data=posts(), max_vocab=most)
    assert result == {"total_word_count": matrix.sum(), "unique_words": matrix.shape[1]}


def test_words_of_each_text_add_up():
    result = load("word_count").compute(data=posts()[:200], per_example=True)
    assert sum(result["per_example"]["total_word_count"]) == result["total_word_count"]
    assert max(result["per_example"]["unique_words"]) <= result["unique_words"]


def test_a_tokenizer_decides_what_a_word_is():
    result = load("word_count", tokenizer=str.split).compute(data=["I am I", "a b"])
    assert result == {"total_word_count": 5, "unique_words": 4}
    result = load("word_length").compute(data=["I am I", "a b"], tokenizer=str.split)
    assert result == {"average_word_length": 2.5, "mean_word_length": pytest.approx(6 / 5)}


def test_a_vocabulary_of_no_size_is_told():
    with pytest.raises(ValueError, match="max_vocab=0 leaves no words"):
        load("word_count").compute(data=["a text"], max_vocab=0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't think it's John's.", "I do n't think it 's John 's ."),
        ("They’ll pay $3,000.50 (50%)!", "They ’ll pay $ 3,000.50 ( 50 % ) !"),
        ("The U.S. state-of-the-art ... 1990s", "The U.S. state-of-the-art ... 1990s"),
        ("See http://a.b/c?d=1, at 10:30 -- now", "See http://a.b/c?d=1 , at 10:30 -- now"),
        ("Größe naïve 你好", "Größe naïve 你好"),
        ("won't n't", "wo n't n't"),
        ("", ""),
    ],
)
def test_tokens_are_cut_in_the_manner_of_the_penn_treebank(text, expected):
    assert word_tokens(text) == expected.split()


@pytest.mark.release
def test_real_texts_have_about_as_many_tokens_as_in_nltk():
    texts = posts()[:2000]
    other = NLTKWordTokenizer()
    expected = sum(len(other.tokenize(text)) for text in texts) / len(texts)
    assert load("word_length").compute(data=texts)["average_word_length"] == pytest.approx(expected, rel=0.01)


@given(st.text())
def test_no_sign_gets_lost(text):
    assert "".join(word_tokens(text)) == "".join(text.split())


def test_the_length_of_words_has_an_interval():
    result = load("word_length").compute(data=posts()[:300], interval=0.95, resamples=500)
    span = result["interval"]["mean_word_length"]
    assert span["low"] < result["mean_word_length"] < span["high"]


def test_real_duplicates_are_those_of_a_hash_of_each_text():
    unique = len({hashlib.md5(text.strip().encode()).digest() for text in posts()})
    result = load("text_duplicates").compute(data=posts(), list_duplicates=True, per_example=True)
    assert result["duplicate_fraction"] == pytest.approx(1 - unique / len(posts()))
    assert sum(times - 1 for times in result["duplicates_dict"].values()) == len(posts()) - unique
    assert sum(result["per_example"]["duplicate_fraction"]) == len(posts()) - unique


def test_the_dictionary_agrees_with_the_fraction_unless_it_is_compatible():
    data = ["a", "a ", "b"]
    assert load("text_duplicates").compute(data=data, list_duplicates=True)["duplicates_dict"] == {"a": 2}
    assert load("text_duplicates", compat=True).compute(data=data, list_duplicates=True) == {
        "duplicate_fraction": pytest.approx(1 / 3),
        "duplicates_dict": {},
    }


def shingles(text: str) -> set[str]:
    text = " ".join(text.lower().split())
    return {text[at : at + 5] for at in range(max(len(text) - 4, 1))}


@given(st.lists(st.text("ab ", max_size=14), min_size=1, max_size=9), st.sampled_from([0.2, 0.5, 0.8, 1.0]))
def test_near_duplicates_are_all_pairs_of_that_similarity(texts, least):
    linked = {row: {row} for row in range(len(texts))}
    for first, two in combinations(range(len(texts)), 2):
        a, b = shingles(texts[first]), shingles(texts[two])
        if len(a & b) / len(a | b) >= least - 1e-12 and linked[first] is not linked[two]:
            linked[first] |= linked[two]
            for row in linked[first]:
                linked[row] = linked[first]
    expected = sorted({tuple(sorted(rows)) for rows in linked.values() if len(rows) > 1})
    assert near_duplicate_groups(texts, least) == [list(rows) for rows in expected]


@pytest.mark.release
def test_real_near_duplicates_are_more_than_the_duplicates_and_fewer_the_nearer():
    texts = posts()[:1000]
    results = [load("text_duplicates").compute(data=texts, near=near) for near in (0.5, 0.9)]
    far, near = (first["near_duplicate_fraction"] for first in results)
    assert results[0]["duplicate_fraction"] <= near <= far


@pytest.mark.parametrize("near", [0, -1, 1.5])
def test_a_similarity_that_is_none_is_told(near):
    with pytest.raises(ValueError, match="lies above 0 and at most at 1"):
        load("text_duplicates").compute(data=["a"], near=near)


@pytest.mark.parametrize("name", ["word_count", "word_length", "text_duplicates"])
@given(TEXTS, TEXTS)
def test_merged_batches_are_all_rows(name, first, second):
    module = load(name)
    merged = module.merge(module.state({"data": first}), module.state({"data": second}))
    assert module.result(merged) == pytest.approx(module.compute(data=first + second))


def test_the_compatible_word_length_has_one_key():
    assert load("word_length", compat=True).compute(data=["a few words", ""]) == {"average_word_length": 1.5}
