"""Number of words in texts, and their length."""

from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Texts
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.words import Tokenizer, is_word, word_tokens


class WordLength(Measurement):
    """The mean number of words of texts, and the mean length of words."""

    columns = {"data": Texts()}

    def update(self, data: list[str], *, tokenizer: Tokenizer | None = None) -> Sums:
        """Tokens, words and characters of words of each text, shape (n, 3)."""
        tokenize = tokenizer or word_tokens
        rows = np.zeros((len(data), 3))
        for row, text in enumerate(data):
            text_tokens = tokenize(text)
            words = [token for token in text_tokens if is_word(token)]
            rows[row] = len(text_tokens), len(words), sum(map(len, words))
        return Sums(rows)

    def formula(self, total: Floats) -> dict[str, Floats]:
        """Tokens by text, and characters by word."""
        return {
            "average_word_length": ratio(total[..., 0], total[..., -1]),
            "mean_word_length": ratio(total[..., 2], total[..., 1]),
        }

    def compatible(self, result: dict[str, Any]) -> dict[str, Any]:
        """Without `mean_word_length`."""
        return {"average_word_length": result["average_word_length"]}
