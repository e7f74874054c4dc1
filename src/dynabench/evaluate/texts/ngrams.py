"""Tokens as numbers, n-grams that two texts share, and longest common subsequences: many pairs of texts at once."""

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from dynabench.evaluate.labels import Ints
from dynabench.evaluate.texts.ngram_counts import TokenSequences, ngram_overlaps, possible_ngrams

Tokenizer = Callable[[str], Sequence[str]]
Codes = list[int]


class TokenCoder:
    """Turns texts into lists of token numbers, each different text once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._numbers: dict[str, int] = {}
        self._seen: dict[str, Codes] = {}

    def __call__(self, text: str) -> Codes:
        """The numbers of the text's tokens."""
        codes = self._seen.get(text)
        if codes is None:
            numbers = self._numbers
            codes = [numbers.setdefault(token, len(numbers)) for token in self.tokenizer(text)]
            self._seen[text] = codes
        return codes


def shared_ngrams(first: Sequence[Codes], second: Sequence[Codes], n: int) -> tuple[Ints, Ints, Ints]:
    """Return for each pair of texts the n-grams in both, in the first and in the second; each (pairs,).

    A repeated n-gram counts as often as in the text that repeats it less often.
    """
    first_sequences, second_sequences = _sequences(first), _sequences(second)
    common = ngram_overlaps(first_sequences, second_sequences, len(first), n)
    return (
        common[:, -1],
        possible_ngrams(first_sequences.lengths, n)[:, -1],
        possible_ngrams(second_sequences.lengths, n)[:, -1],
    )


def _sequences(texts: Sequence[Codes]) -> TokenSequences:
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    codes = np.fromiter(chain.from_iterable(texts), np.int64, int(lengths.sum()))
    return TokenSequences(codes, lengths, np.arange(len(texts)))


def common_length(first: Codes, second: Codes) -> int:
    """Length of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    return int(LCSseq.similarity(first, second))


def common_places(reference: Codes, candidate: Codes) -> list[int]:
    """Return places in `reference` of one longest common subsequence.

    It is found by walking back through the table of lengths, stepping back in `reference` where both ways are as
    good. A row of the table is an integer whose bit j says that the length grows at candidate token j (Hyyro,
    Bit-parallel LCS-length computation revisited, 2004), so that a length is a count of bits.
    """
    where: dict[int, int] = {}
    for place, token in enumerate(candidate):
        where[token] = where.get(token, 0) | 1 << place
    full = (1 << len(candidate)) - 1
    flat, rows = full, [0]
    for token in reference:
        met = flat & where.get(token, 0)
        flat = ((flat + met) | (flat - met)) & full
        rows.append(full ^ flat)
    places, row, column = [], len(reference), len(candidate)
    while row and column:
        if reference[row - 1] == candidate[column - 1]:
            places.append(row - 1)
            row, column = row - 1, column - 1
        elif _grown(rows[row - 1], column) < _grown(rows[row], column):
            column -= 1
        else:
            row -= 1
    return places[::-1]


def _grown(row: int, column: int) -> int:
    return (row & ((1 << column) - 1)).bit_count()
