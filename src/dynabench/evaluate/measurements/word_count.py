"""How many words texts have, and how many different ones."""

import re
from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.card import Card, Example, Output
from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.states.listed import Listed
from dynabench.evaluate.texts.words import Tokenizer
from dynabench.language import N_

LONG = re.compile(r"(?u)\b\w\w+\b")  # what counts as a word in Hugging Face `evaluate`, by way of scikit-learn


class WordCount(Measurement):
    """The number of words and of different words."""

    card = Card(
        description=N_("How many words there are in all texts together, and how many different ones."),
        formula=r"\sum_w n_w, \qquad |\{w : n_w > 0\}|",
        inputs={"data": "texts"},
        options={
            "max_vocab": "counts only the so many most frequent words; all by default",
            "tokenizer": "a function from a text to its words; by default runs of two or more letters, digits and "
            "underscores of the text in lower case",
        },
        outputs=(
            Output("total_word_count", "number of words", 0),
            Output("unique_words", "number of different words", 0),
        ),
        examples=(
            Example(
                "One word comes twice",
                {"data": ["hello world and hello moon"]},
                {"total_word_count": 5, "unique_words": 4},
            ),
            Example(
                "The most frequent word",
                {"data": ["hello sun", "hello moon"]},
                {"total_word_count": 2, "unique_words": 1},
                {"max_vocab": 1},
            ),
            Example("Single letters are no words", {"data": ["I a 7", ""]}, {"total_word_count": 0, "unique_words": 0}),
            Example("A missing text", {"data": ["a", None]}, error="row 1 is None, not a text"),
        ),
        limits=(
            'Words of one letter ("I", "a") do not count, upper and lower case are the same, and "don\'t" counts '
            'as "don", as in Hugging Face evaluate; give a tokenizer to change that. The number of different words '
            "grows with the amount of text, so compare it between data sets of one size only."
        ),
        citation="Heaps, Information Retrieval: Computational and Theoretical Aspects, Academic Press, 1978.",
        tasks=("text-generation", "text-classification"),
    )
    columns = {"data": Texts()}

    def update(self, data: list[str], *, tokenizer: Tokenizer | None = None) -> Listed[Counter[str]]:
        """The words of each text with how often they occur."""
        cut = tokenizer or _words
        return Listed(tuple(Counter(cut(text)) for text in data))

    def result(self, state: Any, *, max_vocab: int | None = None, **options: Any) -> dict[str, Any]:
        """Counts of all texts together. Raises ValueError for a vocabulary of no size."""
        if max_vocab is not None and max_vocab < 1:
            raise ValueError(f"max_vocab={max_vocab} leaves no words; give 1 or more, or None for all")
        words: Counter[str] = Counter()
        for text in state.rows:
            words.update(text)
        counts = [count for _, count in words.most_common(max_vocab)]
        return {"total_word_count": sum(counts), "unique_words": len(counts)}

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Words and different words of each text, whatever `max_vocab` is."""
        return {
            "total_word_count": np.array([text.total() for text in state.rows]),
            "unique_words": np.array([len(text) for text in state.rows]),
        }


def _words(text: str) -> list[str]:
    return LONG.findall(text.lower())
