"""Number of words, and of different words, in texts."""

import re
from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.states.list_state import ListState
from dynabench.evaluate.texts.words import Tokenizer

WORD = re.compile(r"(?u)\b\w\w+\b")  # what counts as a word in Hugging Face `evaluate`, by way of scikit-learn


class WordCount(Measurement):
    """The number of words and of different words."""

    columns = {"data": Texts()}

    def update(self, data: list[str], *, tokenizer: Tokenizer | None = None) -> ListState[Counter[str]]:
        """The words of each text with how often they occur."""
        tokenize = tokenizer or _words
        return ListState(tuple(Counter(tokenize(text)) for text in data))

    def result(self, state: Any, *, max_vocab: int | None = None, **options: Any) -> dict[str, Any]:
        """Return counts of all texts together. Raises ValueError for a `max_vocab` below 1."""
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
    return WORD.findall(text.lower())
