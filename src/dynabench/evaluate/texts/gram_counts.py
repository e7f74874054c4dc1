"""Counting n-grams of many rows at once, for BLEU, chrF, GLEU, NIST and SARI.

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

BLOCK = 4096  # rows that are counted together: their arrays stay in the processor's cache


@dataclass(frozen=True)
class Sequences:
    """Sequences of tokens, one after the other: codes (N,), lengths (n,), and the row that owns each, (n,)."""

    codes: Ints
    lengths: Ints
    rows: Ints

    def of(self, chosen: NDArray[np.bool_]) -> "Sequences":
        """The sequences that are `chosen`, shape (n,)."""
        if chosen.all():
            return self
        return Sequences(self.codes[np.repeat(chosen, self.lengths)], self.lengths[chosen], self.rows[chosen])


def encoded(*columns: tuple[Sequence[Sequence[str]], Ints]) -> list[Sequences]:
    """Columns of lists of tokens, each with the rows that own them, in codes that all share."""
    code: dict[str, int] = defaultdict(count().__next__)
    found = []
    for sequences, rows in columns:
        lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
        flat = map(code.__getitem__, chain.from_iterable(sequences))
        found.append(Sequences(np.fromiter(flat, np.int64, int(lengths.sum())), lengths, rows))
    return found


def spelled(texts: Sequence[str], rows: Ints) -> Sequences:
    """Texts as sequences of their characters, in code points."""
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
    return Sequences(points.astype(np.int64), lengths, rows)


def counted(columns: Sequence[Sequences], orders: int, shared: bool = False) -> Iterator[tuple[Ints, Ints]]:
    """For each order from 1 on: the row of each of its G n-grams, (G,), and their counts in each column, (C, G).

    An n-gram that two rows have counts as two. With `shared`, n-grams of which a part is not both in the first column
    and in another are left out, from the second order on: they cannot match, and most do not.
    """
    lengths = np.concatenate([one.lengths for one in columns])
    tokens, alphabet = dense(np.concatenate([one.codes for one in columns]))
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(tokens))  # tokens from here to the sequence's end
    column = np.repeat(np.arange(len(columns)), [len(one.codes) for one in columns])
    gram = np.repeat(np.concatenate([one.rows for one in columns]), lengths)  # the empty n-gram of each row
    rows = np.arange(max((int(one.rows.max(initial=-1)) for one in columns), default=-1) + 1)
    place = np.arange(len(tokens))
    for order in range(1, orders + 1):
        fits = left[place] >= order
        place, gram = place[fits], gram[fits]
        gram, keys = dense(gram * len(alphabet) + tokens[place + order - 1])
        rows = rows[keys // max(len(alphabet), 1)]
        counts = np.bincount(column[place] * len(keys) + gram, minlength=len(columns) * len(keys))
        counts = counts.reshape(len(columns), len(keys))
        yield rows, counts
        if shared:
            alive = np.zeros(len(tokens) + 1, bool)
            alive[place] = ((counts[0] > 0) & (counts[1:] > 0).any(0))[gram]
            both = alive[place] & alive[place + 1]
            place, gram = place[both], gram[both]


def overlaps(predictions: Sequences, references: Sequences, rows: int, orders: int) -> Ints:
    """How many n-grams of each row's prediction are in its references, shape (rows, orders).

    Each n-gram counts at most as often as in the reference that has it most often (Papineni et al. 2002, 2.1).
    """
    turn = _turns(references.rows)
    columns = [references.of(turn == one) for one in range(int(turn.max(initial=-1)) + 1)]
    found = np.zeros((rows, orders), np.int64)
    for order, (owner, counts) in enumerate(counted([predictions, *columns], orders, shared=True)):
        if counts.size:
            hits = np.minimum(counts[0], counts[1:].max(0, initial=0))
            found[:, order] = np.bincount(owner, hits, rows)
    return found


def possible(lengths: Ints, orders: int) -> Ints:
    """How many n-grams of each order sequences of these lengths have, shape (n, orders)."""
    found: Ints = np.maximum(lengths[:, None] - np.arange(orders), 0)
    return found


def flattened(references: Sequence[Sequence[Any]]) -> tuple[list[Any], Ints]:
    """All references one after the other, and the row of each."""
    sizes = np.fromiter(map(len, references), np.int64, len(references))
    return list(chain.from_iterable(references)), np.repeat(np.arange(len(references)), sizes)


def in_blocks(rows_of: Callable[..., NDArray[Any]], *columns: Sequence[Any]) -> NDArray[Any]:
    """The rows that `rows_of` finds for blocks of the columns, one below the other."""
    n = len(columns[0])
    blocks = [rows_of(*(column[start : start + BLOCK] for column in columns)) for start in range(0, max(n, 1), BLOCK)]
    return np.concatenate(blocks)


def best(scores: NDArray[Any], rows: Ints, n: int) -> Ints:
    """For each of n rows the place of its highest score; the first of equals. `rows`, sorted, owns the scores."""
    starts = np.searchsorted(rows, np.arange(n))
    if len(rows) == n:
        return starts
    most = np.maximum.reduceat(scores, starts)
    places = np.flatnonzero(scores == most[rows])
    return places[np.unique(rows[places], return_index=True)[1]]


def _turns(rows: Ints) -> Ints:
    """0 for the first sequence of each row, 1 for its second, and so on; `rows` is sorted."""
    found: Ints = np.arange(len(rows)) - np.searchsorted(rows, rows)
    return found


def dense(keys: Ints) -> tuple[Ints, Ints]:
    """`keys` as codes into the sorted keys that occur, and those."""
    top = int(keys.max(initial=-1)) + 1
    if top > 4 * len(keys):
        found, codes = np.unique(keys, return_inverse=True)
        return codes, found
    seen = np.zeros(top, bool)
    seen[keys] = True
    return (np.cumsum(seen) - 1)[keys], np.flatnonzero(seen)
