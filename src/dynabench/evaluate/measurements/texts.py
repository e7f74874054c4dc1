"""Properties of texts and labels: words, duplicates, distribution and perplexity."""

import re
from collections import Counter
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, Labels, Texts
from dynabench.evaluate.label_states import LabelCounts, LabelState
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.metrics import perplexity
from dynabench.evaluate.module import Measurement
from dynabench.evaluate.states import ListState, Sums
from dynabench.evaluate.tokens import Tokenizer, is_word, near_duplicate_groups, word_tokens
from dynabench.evaluate.values import ratio, to_plain


class LabelDistribution(Measurement, name="label_distribution"):
    """Share of each label, and the skewness of the distribution."""

    columns = {"data": Labels()}

    def update(self, data: Ints | list[str]) -> LabelState:
        """The labels' codes."""
        return LabelState.of(data)

    def formula(self, total: LabelCounts) -> dict[str, Floats]:
        """Fractions, shape (..., K), and skewness, shape (...)."""
        counts, labels = total.counts, total.labels
        texts = any(isinstance(label, str) for label in labels)
        values = np.arange(len(labels), dtype=float) if texts else np.array(labels, float)
        fractions = counts / counts.sum(-1, keepdims=True)
        deviations = values - (fractions @ values)[..., None]
        second, third = ((fractions * deviations**power).sum(-1) for power in (2, 3))
        single_class = (counts > 0).sum(-1) == 1
        return {"fractions": fractions, "label_skew": ratio(np.where(single_class, 0, third), second**1.5)}

    def result(self, state: Any, **options: Any) -> dict[str, Any]:
        """The original's form."""
        values = to_plain(self.formula(state.total()))
        return {
            "label_distribution": {"labels": list(state.labels), "fractions": values["fractions"]},
            "label_skew": values["label_skew"],
        }


class TextDuplicates(Measurement, name="text_duplicates"):
    """The share of texts that repeat an earlier one."""

    columns = {"data": Texts()}

    def update(self, data: list[str]) -> ListState[str]:
        """The texts."""
        return ListState(tuple(data))

    def result(
        self, state: Any, *, list_duplicates: bool = False, near: float | None = None, **options: Any
    ) -> dict[str, Any]:
        """Return shares of duplicates; with `list_duplicates` also the texts that repeat."""
        n = len(state)
        stripped = Counter(map(str.strip, state.rows))
        result: dict[str, Any] = {"duplicate_fraction": (n - len(stripped)) / n}
        if list_duplicates:
            counts = Counter(state.rows) if self.compat else stripped
            result["duplicates_dict"] = {text: times for text, times in counts.items() if times > 1}
        if near is not None:
            near_groups = near_duplicate_groups(state.rows, near)
            result["near_duplicate_fraction"] = sum(len(rows) - 1 for rows in near_groups) / n
            if list_duplicates:
                result["near_duplicates"] = near_groups
        return result

    def per_example(self, state: Any, **options: Any) -> dict[str, Any]:
        """Return for each text whether it repeats an earlier one, 0 or 1."""
        first: dict[str, int] = {}
        for row, text in enumerate(state.rows):
            first.setdefault(text.strip(), row)
        is_repeat = np.ones(len(state), np.int64)
        is_repeat[list(first.values())] = 0
        return {"duplicate_fraction": is_repeat}


WORD = re.compile(r"(?u)\b\w\w+\b")  # what counts as a word in Hugging Face `evaluate`, by way of scikit-learn


class WordCount(Measurement, name="word_count"):
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


class WordLength(Measurement, name="word_length"):
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


class PerplexityMeasurement(perplexity.PerplexityOfTexts, Measurement, name="perplexity"):
    """Perplexity of the texts of a data set."""

    columns = {"data": Texts()}
