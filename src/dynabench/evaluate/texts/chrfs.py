"""chrF's counts of each row and its score from their sums; shared by chrf and chrf_plus_plus.

A row is (n-grams of the prediction, of the reference, of both) for each order of characters, then of words.
Sources: Popovic 2015 and 2017; sacrebleu for the details.
"""

from collections.abc import Sequence
from functools import partial
from string import punctuation
from typing import Any

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Sums
from dynabench.evaluate.texts.gram_counts import (
    Sequences,
    best,
    encoded,
    flattened,
    in_blocks,
    overlaps,
    possible,
    spelled,
)

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
    """Rows of counts, shape (n, 3 * (char_order + word_order)), each of its reference with the best F score."""
    if min(char_order, word_order) < 0 or char_order + word_order < 1:
        raise ValueError(f"char_order={char_order} and word_order={word_order} leave no n-grams to compare")
    if not beta >= 0:
        raise ValueError(f"beta says how much more recall weighs than precision; it cannot be {beta}")
    case = str.lower if lowercase else str
    rows = partial(
        _rows, orders=(char_order, word_order), whitespace=whitespace, score=partial(chrf, beta=beta, eps=eps_smoothing)
    )
    said = [case(text) for text in predictions]
    return Sums(in_blocks(rows, said, [[case(text) for text in row] for row in references]))


def chrf(counts: Floats, beta: float, eps: bool) -> Floats:
    """chrF (0-100) of counts of shape (..., 3 * orders)."""
    three = counts.reshape(*counts.shape[:-1], -1, 3)
    said, right, both = three[..., 0], three[..., 1], three[..., 2]
    precision, recall = ratio(both, said, TINY), ratio(both, right, TINY)
    factor = beta**2
    if eps:
        bottom = factor * precision + recall
        found: Floats = ratio((1 + factor) * precision * recall, bottom, TINY).mean(-1)
        return 100 * found
    there = (said > 0) & (right > 0)
    p, r = (ratio((part * there).sum(-1), there.sum(-1)) for part in (precision, recall))
    return 100 * ratio((1 + factor) * p * r, factor * p + r)


def words(text: str) -> list[str]:
    """Words and their marks: one ASCII mark at the end stands alone, or else one at the start."""
    found: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in MARKS:
            found += (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in MARKS:
            found += (word[0], word[1:])
        else:
            found.append(word)
    return found


def _rows(
    predictions: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    orders: tuple[int, int],
    whitespace: bool,
    score: Any,
) -> Ints:
    texts, owners = flattened(references)
    n, pairs = len(predictions), np.arange(len(texts))
    both = [*predictions, *texts]
    kept = both if whitespace else ["".join(text.split()) for text in both]
    found = [_pairs(_repeated(kept[:n], owners), kept[n:], orders[0])]
    if orders[1]:
        cut = [words(text) for text in both]
        said, right = encoded((_repeated(cut[:n], owners), pairs), (cut[n:], pairs))
        found.append(_counts(said, right, orders[1]))
    counts = np.concatenate(found, axis=1).reshape(len(texts), -1)
    return counts[best(score(counts), owners, n)]


def _pairs(said: Sequence[str], right: Sequence[str], orders: int) -> Ints:
    pairs = np.arange(len(right))
    return _counts(spelled(said, pairs), spelled(right, pairs), orders)


def _counts(said: Sequences, right: Sequences, orders: int) -> Ints:
    """Shape (pairs, orders, 3); orders that a reference has not count nothing."""
    theirs = possible(right.lengths, orders)
    ours = possible(said.lengths, orders) * (theirs > 0)
    return np.stack([ours, theirs, overlaps(said, right, len(right.lengths), orders)], 2)


def _repeated(items: Sequence[Any], places: Ints) -> list[Any]:
    return [items[place] for place in places.tolist()]
