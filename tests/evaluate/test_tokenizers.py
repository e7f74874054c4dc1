"""Tokenisers against those of sacrebleu."""

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import _get_tokenizer

from dynabench.evaluate import load
from dynabench.evaluate.tokens import find_tokenizer, tokenize_all

TEXT = st.text("aB1 .,-'\"()$&;#\n\t\u2028é楽", max_size=24) | st.sampled_from(
    ["&quot;x&amp;lt; <skipped>", "3.5-4,000 a.b.", "..5...x", "co-\noperate", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]
)


@pytest.mark.parametrize("name", ["13a", "none", "char", "zh", "intl"])
@settings(deadline=None)
@given(text=TEXT)
def test_each_tokeniser_is_the_one_of_sacrebleu(name, text):
    assert list(find_tokenizer(name)(text)) == _get_tokenizer(name)()(text).split()


def test_equal_texts_are_tokenised_once():
    seen = []

    def split(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    assert tokenize_all(["a b", "c", "a b"], split) == [["a", "b"], ["c"], ["a", "b"]]
    assert seen == ["a b", "c"]


def test_a_tokeniser_may_return_a_text_with_spaces():
    assert tokenize_all(["a-b"], lambda text: text.replace("-", " - ")) == [["a", "-", "b"]]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in ("bleu", "sacrebleu", "chrf", "chrf_plus_plus", "google_bleu", "nist_mt", "ter")),
        ("sari", {"sources": ["a cat"]}),
        ("wiki_split", {"sources": ["a cat"]}),
    ],
)
def test_without_sacrebleu_and_nltk_the_defaults_work(monkeypatch, name, options):
    for library in ("sacrebleu", "nltk", "sacremoses"):
        monkeypatch.setitem(sys.modules, library, None)
    assert load(name).compute(predictions=["the cat"], references=["the cat"], **options)


@pytest.mark.parametrize(
    ("name", "options"),
    [("meteor", {}), ("ter", {"normalized": True}), ("bleu", {"tokenizer": "zh"}), ("sacrebleu", {"tokenize": "intl"})],
)
def test_what_needs_them_says_how_to_install_them(monkeypatch, name, options):
    from dynabench.evaluate.metrics import meteor

    for result in (meteor.treebank_splitter, meteor.porter_stemmer):
        result.cache_clear()
    for library in [module for module in sys.modules if module.partition(".")[0] in ("sacrebleu", "nltk")]:
        monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ValueError, match=r"pip install 'dynabench-eval\[metrics\]'"):
        load(name).compute(predictions=["the cat"], references=["the cat"], **options)
