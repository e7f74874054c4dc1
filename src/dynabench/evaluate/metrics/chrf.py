"""chrF and chrF++.

A row is (n-grams of the prediction, of the reference, of both) for each order of characters, then of words.
Sources: Popovic 2015 and 2017; sacrebleu for the details.
"""

from collections.abc import Sequence
from functools import partial
from string import punctuation
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ngrams import (
    TokenSequences,
    best_places,
    encode_characters,
    encode_tokens,
    flatten_references,
    map_in_blocks,
    ngram_overlaps,
    possible_ngrams,
)
from dynabench.evaluate.states import Sums
from dynabench.evaluate.values import ratio

TINY = 1e-16  # what eps_smoothing takes for a precision or recall without n-grams
MARKS = frozenset(punctuation)


def chrf_state(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    char_order: int,
    word_order: int,
    beta: float,
    lowercase: bool,
    whitespace: bool,
    eps_smoothing: bool,
) -> Sums:
    """Return rows of counts, shape (n, 3 * (char_order + word_order)), of the reference with the best F score.

    Raises ValueError for orders without n-grams and for a negative `beta`.
    """
    if min(char_order, word_order) < 0 or char_order + word_order < 1:
        raise ValueError(f"char_order={char_order} and word_order={word_order} leave no n-grams to compare")
    if not beta >= 0:
        raise ValueError(f"beta says how much more recall weighs than precision; it cannot be {beta}")
    case = str.lower if lowercase else str
    rows = partial(
        _rows,
        orders=(char_order, word_order),
        whitespace=whitespace,
        score=partial(chrf_score, beta=beta, eps=eps_smoothing),
    )
    predicted = [case(text) for text in predictions]
    return Sums(map_in_blocks(rows, predicted, [[case(text) for text in row] for row in references]))


def chrf_score(counts: Floats, beta: float, eps: bool) -> Floats:
    """Return chrF (0-100) of counts of shape (..., 3 * orders)."""
    three = counts.reshape(*counts.shape[:-1], -1, 3)
    predicted, right, both = three[..., 0], three[..., 1], three[..., 2]
    precision, recall = ratio(both, predicted, TINY), ratio(both, right, TINY)
    factor = beta**2
    if eps:
        bottom = factor * precision + recall
        means: Floats = ratio((1 + factor) * precision * recall, bottom, TINY).mean(-1)
        return 100 * means
    present = (predicted > 0) & (right > 0)
    p, r = (ratio((part * present).sum(-1), present.sum(-1)) for part in (precision, recall))
    return 100 * ratio((1 + factor) * p * r, factor * p + r)


def split_marks(text: str) -> list[str]:
    """Return words and punctuation marks.

    One ASCII mark at the end of a word stands alone, or else one at the start.
    """
    parts: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in MARKS:
            parts += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in MARKS:
            parts += (word[0], word[1:])
        else:
            parts.append(word)
    return parts


def _rows(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    orders: tuple[int, int],
    whitespace: bool,
    score: Any,
) -> Ints:
    texts, owners = flatten_references(references)
    n, pairs = len(predictions), np.arange(len(texts))
    both = [*predictions, *texts]
    prepared = both if whitespace else ["".join(text.split()) for text in both]
    predicted = encode_characters(_repeated(prepared[:n], owners), pairs)
    columns = [_counts(predicted, encode_characters(prepared[n:], pairs), orders[0])]
    if orders[1]:
        cut = [split_marks(text) for text in both]
        predicted, right = encode_tokens((_repeated(cut[:n], owners), pairs), (cut[n:], pairs))
        columns.append(_counts(predicted, right, orders[1]))
    counts = np.concatenate(columns, axis=1).reshape(len(texts), -1)
    return counts[best_places(score(counts), owners, n)]


def _counts(predicted: TokenSequences, right: TokenSequences, orders: int) -> Ints:
    """Shape (pairs, orders, 3); orders that a reference has not count nothing."""
    theirs = possible_ngrams(right.lengths, orders)
    ours = possible_ngrams(predicted.lengths, orders) * (theirs > 0)
    return np.stack([ours, theirs, ngram_overlaps(predicted, right, len(right.lengths), orders)], 2)


def _repeated(items: Sequence[Any], places: Ints) -> list[Any]:
    return [items[place] for place in places.tolist()]


class Chrf(Metric, name="chrf"):
    """The F score of n-grams of characters, and of words if asked for."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        char_order: int = 6,
        word_order: int = 0,
        beta: float = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> Sums:
        """Counts of n-grams of each row: see `chrfs`."""
        return chrf_state(predictions, references, char_order, word_order, beta, lowercase, whitespace, eps_smoothing)

    def formula(self, total: Floats, *, beta: float = 2, eps_smoothing: bool = False) -> dict[str, Floats]:
        """The F score of counts of shape (..., 3 * orders + 1)."""
        return {"score": chrf_score(total[..., :-1], beta, eps_smoothing)}

    def result(
        self, state: Sums, *, char_order: int = 6, word_order: int = 0, beta: float = 2, **options: Any
    ) -> dict[str, Any]:
        """The score and the options that it depends on."""
        scores = super().result(state, beta=beta, **options)
        return {**scores, "char_order": char_order, "word_order": word_order, "beta": beta}


class ChrfPlusPlus(Chrf, name="chrf_plus_plus"):
    """The F score of n-grams of characters and of words."""

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        char_order: int = 6,
        word_order: int = 2,
        beta: float = 2,
        lowercase: bool = False,
        whitespace: bool = False,
        eps_smoothing: bool = False,
    ) -> Sums:
        """Counts of n-grams of each row: see `chrfs`."""
        return chrf_state(predictions, references, char_order, word_order, beta, lowercase, whitespace, eps_smoothing)

    def result(
        self, state: Sums, *, char_order: int = 6, word_order: int = 2, beta: float = 2, **options: Any
    ) -> dict[str, Any]:
        """The score and the options that it depends on."""
        return super().result(state, char_order=char_order, word_order=word_order, beta=beta, **options)
