"""NIST's state: an n-gram weighs by how rare it is in the references of the whole corpus.

So rows do not add up: what a match of one row is worth depends on the references of all. The state keeps the tokens;
merging joins them, and a resample counts the references anew. Source: Doddington 2002, equations 2 and 3, and NLTK's
`corpus_nist` for the choice among references: the best by order, of equals the longest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.ratios import ratio
from dynabench.evaluate.states import Additive
from dynabench.evaluate.texts.gram_counts import Sequences, dense, encoded, possible

ROOM = 1 << 22  # weights of n-grams that are held at once
BETA = np.log(0.5) / np.log(1.5) ** 2  # two thirds of the references' length halve the score


@dataclass(frozen=True)
class Order:
    """The n-grams of one length that some prediction shares with its reference, G of them.

    `often` (G, n) is how often the references of each row have them, `begun` (U, n) how often they have the U
    different beginnings of n-1 tokens, `start` (G,) which of these each n-gram has, and `shared` (P, G) how often
    prediction and reference of each of P pairs both have it.
    """

    often: Any
    begun: Any
    start: Ints
    shared: Any


@dataclass(frozen=True)
class Corpus(Additive):
    """Tokens of predictions and references as codes into `words`, for n-grams of up to `orders` tokens."""

    words: tuple[str, ...]
    said: Sequences
    right: Sequences
    orders: int

    @classmethod
    def of(
        cls, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], rows: Ints, orders: int
    ) -> "Corpus":
        """From tokens; `rows` says which prediction each reference belongs to, in order."""
        said, right = encoded((predictions, np.arange(len(predictions))), (references, rows))
        words = dict.fromkeys(word for tokens in (*predictions, *references) for word in tokens)
        return cls(tuple(words), said, right, orders)

    def __len__(self) -> int:
        return len(self.said.lengths)

    def __add__(self, other: "Corpus") -> "Corpus":
        if self.orders != other.orders:
            raise ValueError(f"states for n={self.orders} and n={other.orders} cannot be merged")
        words = dict.fromkeys((*self.words, *other.words))
        code = {word: place for place, word in enumerate(words)}
        table = np.array([code[word] for word in other.words], np.int64)
        said, right = (
            Sequences(
                np.concatenate([mine.codes, table[theirs.codes]]),
                np.concatenate([mine.lengths, theirs.lengths]),
                np.concatenate([mine.rows, theirs.rows + len(self)]),
            )
            for mine, theirs in ((self.said, other.said), (self.right, other.right))
        )
        return Corpus(tuple(words), said, right, self.orders)

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """Each row is one."""
        return np.arange(len(self)), np.ones(len(self), np.int64)

    def weighed(self, counts: NDArray[Any]) -> "Weighed":
        """See `Additive`."""
        return Weighed(self, counts.astype(float))

    @cached_property
    def grams(self) -> list[Order]:
        """The n-grams of each order."""
        return list(self._grams())

    def _grams(self) -> Iterator[Order]:
        from scipy import sparse

        pairs, size = len(self.right.lengths), max(len(self.words), 1)
        tokens, sequence, left = self._paired()
        row, theirs = self.right.rows[sequence % max(pairs, 1)], sequence >= pairs
        place, gram = np.arange(len(tokens)), np.zeros(len(tokens), np.int64)  # the empty beginning is everywhere
        for order in range(1, self.orders + 1):
            here = theirs[place]
            before = gram[here], row[place[here]]
            fits = left[place] >= order
            place = place[fits]
            gram, keys = dense(gram[fits] * size + tokens[place + order - 1])
            cells = sparse.csr_array((np.ones(len(gram)), (sequence[place], gram)), (2 * pairs, len(keys)))
            shared = cells[:pairs].minimum(cells[pairs:]).tocsr()
            used, columns = np.unique(shared.indices, return_inverse=True)
            begins, start = np.unique(keys[used] // size, return_inverse=True)
            here = theirs[place]
            yield Order(
                _counts(gram[here], row[place[here]], used, len(self)),
                _counts(*before, begins, len(self)),
                start,
                sparse.csr_array((shared.data, columns, shared.indptr), (pairs, len(used))),
            )

    def _paired(self) -> tuple[Ints, Ints, Ints]:
        """All tokens, first of the prediction of each pair, then of its reference; their sequence (0..2P-1) and how
        many tokens are left in it."""
        owners = self.right.rows
        lengths = self.said.lengths[owners]
        starts = (np.cumsum(self.said.lengths) - self.said.lengths)[owners]
        inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        tokens = np.concatenate([self.said.codes[np.repeat(starts, lengths) + inside], self.right.codes])
        sizes = np.concatenate([lengths, self.right.lengths])
        sequence = np.repeat(np.arange(len(sizes)), sizes)
        return tokens, sequence, np.repeat(np.cumsum(sizes), sizes) - np.arange(len(tokens))


def _counts(gram: Ints, row: Ints, chosen: Ints, n: int) -> Any:
    """How often the rows have each of the `chosen` grams, sorted, shape (len(chosen), n)."""
    from scipy import sparse

    places = np.full(int(max(gram.max(initial=-1), chosen.max(initial=-1))) + 1, -1)
    places[chosen] = np.arange(len(chosen))
    kept = places[gram] >= 0
    return sparse.csr_array((np.ones(int(kept.sum())), (places[gram[kept]], row[kept])), (len(chosen), n))


@dataclass(frozen=True)
class Weighed:
    """A corpus whose rows come `times`, shape (..., n)."""

    corpus: Corpus
    times: Floats


def nist(total: Weighed) -> Floats:
    """NIST's score, of the shape of `total.times` without its last axis."""
    rows = total.times.reshape(-1, total.times.shape[-1])
    width = max(max((order.often.shape[0] for order in total.corpus.grams), default=1), rows.shape[1], 1)
    size = max(ROOM // width, 1)
    blocks = (np.ascontiguousarray(rows[start : start + size].T) for start in range(0, len(rows), size))
    parts = [_scores(total.corpus, block) for block in blocks]
    return np.concatenate(parts).reshape(total.times.shape[:-1])


def nist_alone(total: Weighed) -> Floats:
    """NIST's score of each row by the information of the whole corpus, shape (n,)."""
    corpus = total.corpus
    possibles = possible(corpus.said.lengths, corpus.orders)
    share, lengths = np.zeros(len(corpus)), np.zeros(len(corpus))
    for order, grams in enumerate(corpus.grams):
        hits, length = _best(corpus, grams.shared @ _information(grams, total.times[:, None]))
        share += ratio(hits[:, 0], possibles[:, order])
        lengths += length[:, 0]
    return share * _penalty(corpus.said.lengths * corpus.orders, lengths)


def _scores(corpus: Corpus, times: Floats) -> Floats:
    """Scores for columns of `times`, shape (n, b)."""
    said = corpus.said.lengths
    totals = np.column_stack([possible(said, corpus.orders), said]).T.astype(float) @ times
    share, lengths = np.zeros(times.shape[1]), np.zeros(times.shape[1])
    for order, grams in enumerate(corpus.grams):
        weights = _information(grams, times)
        if len(corpus.right.rows) == len(corpus):  # one reference each: sums over n-grams, fewer than rows
            top, length = (weights * (grams.shared.T @ times)).sum(0), corpus.right.lengths @ times
        else:
            top, length = ((part * times).sum(0) for part in _best(corpus, grams.shared @ weights))
        share += ratio(top, totals[order])
        lengths += length
    return share * _penalty(corpus.orders * totals[-1], lengths)


def _information(grams: Order, times: Floats) -> Floats:
    """What a match of each n-gram is worth, in bits, shape (G, b)."""
    found: Floats = np.log2(np.maximum(ratio((grams.begun @ times)[grams.start], grams.often @ times, 1.0), 1.0))
    return found


def _best(corpus: Corpus, hits: Floats) -> tuple[Floats, Floats]:
    """Of the `hits` of each pair, (P, b), those of each row's best reference, and its length; shapes (n, b)."""
    owners = corpus.right.rows
    starts = np.searchsorted(owners, np.arange(len(corpus)))
    most = np.maximum.reduceat(hits, starts, axis=0)
    good = hits >= most[owners] * (1 - 1e-12)  # sums of equal weights differ in their last digit
    return most, np.maximum.reduceat(np.where(good, corpus.right.lengths[:, None], 0.0), starts, axis=0)


def _penalty(said: NDArray[Any], right: NDArray[Any]) -> Floats:
    share = np.minimum(ratio(said, right), 1.0)
    found: Floats = np.where(share > 0, np.exp(BETA * np.log(np.where(share > 0, share, 1.0)) ** 2), 0.0)
    return found
