"""ROUGE."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ngrams import Codes, TokenCoder, common_length, common_places, shared_ngrams
from dynabench.evaluate.states import Sums
from dynabench.evaluate.tokens import Tokenizer
from dynabench.evaluate.values import MissingLibrary, ratio, to_plain
from dynabench.kit.distributions import LIBRARY, install_command

TYPES = ("rouge1", "rouge2", "rougeL", "rougeLsum")
WORD = re.compile("[a-z0-9]+")

Pairs = list[tuple[str, str]]  # prediction and reference


class Rouge(Metric):
    """Words, word pairs and word sequences that a summary shares with a reference."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        rouge_types: Sequence[str] | None = None,
        use_stemmer: bool = False,
        tokenizer: Tokenizer | None = None,
    ) -> Sums:
        """F1 of each type for each row, (n, types)."""
        pairs = [
            (predicted, reference)
            for predicted, row_references in zip(predictions, references, strict=True)
            for reference in row_references
        ]
        sizes = np.array([len(row_references) for row_references in references], np.int64)
        starts = np.cumsum(sizes) - sizes
        coder = TokenCoder(tokenizer or rouge_tokenizer(use_stemmer))
        scores = [np.maximum.reduceat(_scores(name, pairs, coder), starts) for name in _types(rouge_types)]
        return Sums(np.stack(scores, 1))

    def formula(self, total: Floats, *, rouge_types: Sequence[str] | None = None) -> dict[str, Floats]:
        """Means over rows."""
        names = _types(rouge_types)
        return {name: ratio(total[..., place], total[..., -1]) for place, name in enumerate(names)}

    def result(
        self, state: Sums, *, rouge_types: Sequence[str] | None = None, use_aggregator: bool = True, **options: Any
    ) -> dict[str, Any]:
        """Means, or the scores of all rows."""
        if use_aggregator:
            return super().result(state, rouge_types=rouge_types)
        names = _types(rouge_types)
        by_type: dict[str, Any] = to_plain({name: state.rows[:, place] for place, name in enumerate(names)})
        return by_type


def rouge_tokenizer(stem: bool = False) -> Tokenizer:
    """Return the tokenizer of ROUGE: runs of ASCII letters and digits in lower case.

    With `stem` longer ones are stemmed.
    """
    if not stem:
        return lambda text: WORD.findall(text.lower())
    stem_word = _stemmer()
    return lambda text: [stem_word(word) if len(word) > 3 else word for word in WORD.findall(text.lower())]


@cache
def _stemmer() -> Callable[[str], str]:
    try:
        porter = import_module("nltk.stem.porter")
    except ImportError:
        raise MissingLibrary(f"use_stemmer needs nltk: {install_command(LIBRARY, 'metrics')}") from None
    return cache(porter.PorterStemmer().stem)


def _types(names: Sequence[str] | None) -> tuple[str, ...]:
    if names is None:
        return TYPES
    chosen = (names,) if isinstance(names, str) else tuple(names)
    for name in chosen:
        if not re.fullmatch(r"rouge([1-9]|L|Lsum)", str(name)):
            raise ValueError(f"no ROUGE type {name!r}; there are rouge1 to rouge9, rougeL and rougeLsum")
    if not chosen:
        raise ValueError("rouge_types is empty; name at least one, such as 'rougeL'")
    return chosen


def _scores(name: str, pairs: Pairs, coder: TokenCoder) -> Floats:
    """F1 of each pair."""
    if name == "rougeLsum":
        hits, predicted, true = np.array(
            [_by_lines(prediction, other, coder) for prediction, other in pairs], np.int64
        ).T
    else:
        first, second = [coder(predicted) for predicted, _ in pairs], [coder(true) for _, true in pairs]
        if name == "rougeL":
            hits = np.array([common_length(*pair) for pair in zip(first, second, strict=True)], np.int64)
            predicted, true = _lengths(first), _lengths(second)
        else:
            hits, predicted, true = shared_ngrams(first, second, int(name[-1]))
    return ratio(2 * hits, predicted + true)


def _lengths(texts: list[Codes]) -> Ints:
    return np.array([len(text) for text in texts], np.int64)


def _by_lines(prediction: str, reference: str, coder: TokenCoder) -> tuple[int, int, int]:
    """Tokens in the union of common sequences of each reference line with all predicted ones (Lin, section 3.2).

    No token counts more often than either text has it, as in ROUGE 1.5.5. Returned with both texts' numbers of tokens.
    """
    predicted = [coder(line) for line in prediction.split("\n")]
    true = [coder(line) for line in reference.split("\n")]
    sizes = sum(map(len, predicted)), sum(map(len, true))
    if len(predicted) == len(true) == 1:
        return common_length(predicted[0], true[0]), *sizes
    spare = Counter(token for line in predicted for token in line) & Counter(token for line in true for token in line)
    hits = 0
    for line in true:
        for place in sorted(set().union(*(common_places(line, other) for other in predicted))):
            if spare[line[place]]:
                spare[line[place]] -= 1
                hits += 1
    return hits, *sizes
