"""N-grams of tokens and their counts.

Tokens become whole numbers, and an n-gram is the pair of the (n-1)-gram before it and its last token, numbered anew
at each order. So all n-grams of all rows are counted by a few array operations.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.labels import Ints
from dynabench.evaluate.tokens import Tokenizer

BLOCK = 4096  # rows that are counted together: their arrays stay in the processor's cache


@dataclass(frozen=True)
class TokenSequences:
    """Sequences of tokens, one after the other: codes (N,), lengths (n,), and the row that owns each, (n,)."""

    codes: Ints
    lengths: Ints
    rows: Ints

    def select(self, mask: NDArray[np.bool_]) -> "TokenSequences":
        """Return the sequences where the mask, shape (n,), is true."""
        if mask.all():
            return self
        return TokenSequences(self.codes[np.repeat(mask, self.lengths)], self.lengths[mask], self.rows[mask])


def encode_tokens(*columns: tuple[Sequence[Sequence[str]], Ints]) -> list[TokenSequences]:
    """Return columns of token lists, each with the rows that own them, in codes that all columns share."""
    code: dict[str, int] = defaultdict(count().__next__)
    encoded_columns = []
    for sequences, rows in columns:
        lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
        flat = map(code.__getitem__, chain.from_iterable(sequences))
        encoded_columns.append(TokenSequences(np.fromiter(flat, np.int64, int(lengths.sum())), lengths, rows))
    return encoded_columns


def encode_characters(texts: Sequence[str], rows: Ints) -> TokenSequences:
    """Return texts as sequences of their characters, in code points."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return TokenSequences(points.astype(np.int64), lengths, rows)


def count_ngrams(columns: Sequence[TokenSequences], orders: int, shared: bool = False) -> Iterator[tuple[Ints, Ints]]:
    """Yield for each order from 1 on the row of each of its G n-grams, (G,), and their counts in each column, (C, G).

    An n-gram that occurs in two rows counts as two. With `shared`, n-grams of which a part is not both in the first
    column and in another are left out, from the second order on: they cannot match, and most do not.
    """
    lengths = np.concatenate([sequences.lengths for sequences in columns])
    tokens, alphabet = dense_codes(np.concatenate([sequences.codes for sequences in columns]))
    tokens_left = np.repeat(np.cumsum(lengths), lengths) - np.arange(
        len(tokens)
    )  # tokens from here to the sequence's end
    column = np.repeat(np.arange(len(columns)), [len(sequences.codes) for sequences in columns])
    gram = np.repeat(np.concatenate([sequences.rows for sequences in columns]), lengths)  # the empty n-gram of each row
    rows = np.arange(max((int(sequences.rows.max(initial=-1)) for sequences in columns), default=-1) + 1)
    place = np.arange(len(tokens))
    for order in range(1, orders + 1):
        fits = tokens_left[place] >= order
        place, gram = place[fits], gram[fits]
        gram, keys = dense_codes(gram * len(alphabet) + tokens[place + order - 1])
        rows = rows[keys // max(len(alphabet), 1)]
        counts = np.bincount(column[place] * len(keys) + gram, minlength=len(columns) * len(keys))
        counts = counts.reshape(len(columns), len(keys))
        yield rows, counts
        if shared:
            alive = np.zeros(len(tokens) + 1, bool)
            alive[place] = ((counts[0] > 0) & (counts[1:] > 0).any(0))[gram]
            both = alive[place] & alive[place + 1]
            place, gram = place[both], gram[both]


def ngram_overlaps(predictions: TokenSequences, references: TokenSequences, rows: int, orders: int) -> Ints:
    """Return the number of n-grams of each row's prediction that are in its references, shape (rows, orders).

    Each n-gram counts at most as often as in the reference that has it most often (Papineni et al. 2002, 2.1).
    """
    # 0 for the first reference of each row, 1 for its second, and so on: the rows are sorted
    turn = np.arange(len(references.rows)) - np.searchsorted(references.rows, references.rows)
    columns = [references.select(turn == turn_number) for turn_number in range(int(turn.max(initial=-1)) + 1)]
    overlap_counts = np.zeros((rows, orders), np.int64)
    for order, (owner, counts) in enumerate(count_ngrams([predictions, *columns], orders, shared=True)):
        if counts.size:
            hits = np.minimum(counts[0], counts[1:].max(0, initial=0))
            overlap_counts[:, order] = np.bincount(owner, hits, rows)
    return overlap_counts


def possible_ngrams(lengths: Ints, orders: int) -> Ints:
    """Return the number of n-grams of each order in sequences of these lengths, shape (n, orders)."""
    sizes: Ints = np.maximum(lengths[:, None] - np.arange(orders), 0)
    return sizes


def flatten_references(references: Sequence[Sequence[Any]]) -> tuple[list[Any], Ints]:
    """Return all references one after the other, and the row of each."""
    sizes = np.fromiter(map(len, references), np.int64, len(references))
    return list(chain.from_iterable(references)), np.repeat(np.arange(len(references)), sizes)


def map_in_blocks(rows_of: Callable[..., NDArray[Any]], *columns: Sequence[Any]) -> NDArray[Any]:
    """Return the rows that `rows_of` computes for blocks of the columns, one below the other."""
    n = len(columns[0])
    blocks = [rows_of(*(column[start : start + BLOCK] for column in columns)) for start in range(0, max(n, 1), BLOCK)]
    return np.concatenate(blocks)


def best_places(scores: NDArray[Any], rows: Ints, n: int) -> Ints:
    """Return for each of n rows the place of its highest score; the first of equals.

    `rows`, sorted, owns the scores.
    """
    starts = np.searchsorted(rows, np.arange(n))
    if len(rows) == n:
        return starts
    most = np.maximum.reduceat(scores, starts)
    places = np.flatnonzero(scores == most[rows])
    return places[np.unique(rows[places], return_index=True)[1]]


def dense_codes(keys: Ints) -> tuple[Ints, Ints]:
    """Return `keys` as codes into the sorted keys that occur, and these keys."""
    top = int(keys.max(initial=-1)) + 1
    if top > 4 * len(keys):
        unique_keys, codes = np.unique(keys, return_inverse=True)
        return codes, unique_keys
    seen = np.zeros(top, bool)
    seen[keys] = True
    return (np.cumsum(seen) - 1)[keys], np.flatnonzero(seen)


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
