"""Tokens as numbers, n-grams that two texts share, and longest common subsequences: many pairs of texts at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from dynabench.evaluate.labels import Ints

Tokenizer = Callable[[str], Sequence[str]]
Codes = list[int]


class Coder:
    """Turns texts into lists of token numbers, each different text once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._numbers: dict[str, int] = {}
        self._seen: dict[str, Codes] = {}

    def __call__(self, text: str) -> Codes:
        """The numbers of the text's tokens."""
        found = self._seen.get(text)
        if found is None:
            numbers = self._numbers
            found = [numbers.setdefault(token, len(numbers)) for token in self.tokenizer(text)]
            self._seen[text] = found
        return found


@dataclass(frozen=True)
class Grams:
    """All n-grams of many texts: the text that each is of, its number, and how many each text has."""

    text: Ints
    code: Ints
    counts: Ints


def shared(first: Sequence[Codes], second: Sequence[Codes], n: int) -> tuple[Ints, Ints, Ints]:
    """Of each pair of texts the n-grams that both have, those of the first and those of the second; each (pairs,).

    A repeated n-gram counts as often as the text that has it less often repeats it.
    """
    one, other = _grams(first, second, n)
    size = max(int(max(one.code.max(initial=0), other.code.max(initial=0))) + 1, 1)
    keys, counts = np.unique(one.text * size + one.code, return_counts=True)
    keys2, counts2 = np.unique(other.text * size + other.code, return_counts=True)
    both, here, there = np.intersect1d(keys, keys2, assume_unique=True, return_indices=True)
    common = np.bincount(both // size, np.minimum(counts[here], counts2[there]), minlength=len(first))
    return common.astype(np.int64), one.counts, other.counts


def _grams(first: Sequence[Codes], second: Sequence[Codes], n: int) -> tuple[Grams, Grams]:
    """N-grams of both sides, numbered alike."""
    lengths = np.array([len(text) for text in (*first, *second)], np.int64)
    tokens = np.fromiter(chain.from_iterable((*first, *second)), np.int64, int(lengths.sum()))
    text = np.repeat(np.arange(len(lengths)), lengths)
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))  # tokens from here to the text's end
    code = tokens
    for step in range(1, n):
        whole = left[: len(tokens) - step] > step
        longer = np.where(whole, code[: len(tokens) - step] * (tokens.max(initial=0) + 1) + tokens[step:], -1)
        code = np.unique(longer, return_inverse=True)[1]
    start = left[: len(code)] >= n
    text, code = text[: len(code)][start], code[start]
    counts = np.bincount(text, minlength=len(lengths))
    cut = len(first)
    mine = text < cut
    return Grams(text[mine], code[mine], counts[:cut]), Grams(text[~mine] - cut, code[~mine], counts[cut:])


def common_length(first: Codes, second: Codes) -> int:
    """Length of the longest common subsequence."""
    from rapidfuzz.distance import LCSseq

    return int(LCSseq.similarity(first, second))


def common_places(reference: Codes, candidate: Codes) -> list[int]:
    """Places in `reference` of one longest common subsequence: that which is found by walking back through the table
    of lengths, and stepping back in `reference` where both ways are as good.

    A row of the table is an integer whose bit j says that the length grows at candidate token j (Hyyro, Bit-parallel
    LCS-length computation revisited, 2004), so that a length is a count of bits.
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
    found, row, column = [], len(reference), len(candidate)
    while row and column:
        if reference[row - 1] == candidate[column - 1]:
            found.append(row - 1)
            row, column = row - 1, column - 1
        elif _grown(rows[row - 1], column) < _grown(rows[row], column):
            column -= 1
        else:
            row -= 1
    return found[::-1]


def _grown(row: int, column: int) -> int:
    return (row & ((1 << column) - 1)).bit_count()
