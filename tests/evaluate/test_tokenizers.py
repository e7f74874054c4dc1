"""Tokenisers against those of sacrebleu."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import _get_tokenizer

from dynabench.evaluate.tokenizers import tokenized, tokenizer

TEXT = st.text("aB1 .,-'\"()$&;#\n\t\u2028é楽", max_size=24) | st.sampled_from(
    ["&quot;x&amp;lt; <skipped>", "3.5-4,000 a.b.", "..5...x", "co-\noperate", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]
)


@pytest.mark.parametrize("name", ["13a", "none", "char", "zh", "intl"])
@given(text=TEXT)
def test_each_tokeniser_is_the_one_of_sacrebleu(name, text):
    assert list(tokenizer(name)(text)) == _get_tokenizer(name)()(text).split()


def test_equal_texts_are_tokenised_once():
    seen = []

    def split(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    assert tokenized(["a b", "c", "a b"], split) == [["a", "b"], ["c"], ["a", "b"]]
    assert seen == ["a b", "c"]


def test_a_tokeniser_may_return_a_text_with_spaces():
    assert tokenized(["a-b"], lambda text: text.replace("-", " - ")) == [["a", "-", "b"]]
