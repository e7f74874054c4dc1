"""NIST.

The value of a match in one row depends on the references of all rows, so that rows do not add up. The state keeps
the tokens; merging joins them, and a resample counts the references anew. Source: Doddington 2002, equations 2
and 3, and NLTK's `corpus_nist` for the choice among references: the best by order, of equals the longest.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats, References, Texts
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.module import Metric
from dynabench.evaluate.ngrams import (
    TokenSequences,
    dense_codes,
    encode_tokens,
    flatten_references,
    possible_ngrams,
)
from dynabench.evaluate.states import Additive
from dynabench.evaluate.tokens import nist_tokens as words
from dynabench.evaluate.tokens import tokenize_all
from dynabench.evaluate.values import ratio

MAX_WEIGHTS = 1 << 22  # weights of n-grams that are held at once
BETA = np.log(0.5) / np.log(1.5) ** 2  # two thirds of the references' length halve the score


@dataclass(frozen=True)
class NgramOrder:
    """The n-grams of one length that some prediction shares with its reference, G of them.

    `reference_counts` (G, n): counts of the n-grams in the references of each row; `prefix_counts` (U, n): counts
    of the U different prefixes of n-1 tokens; `start` (G,): the prefix of each n-gram; `shared` (P, G): how often
    prediction and reference of each of P pairs both have it.
    """

    often: Any
    begun: Any
    start: Ints
    shared: Any


@dataclass(frozen=True)
class NistCorpus(Additive):
    """Tokens of predictions and references as codes into `words`, for n-grams of up to `orders` tokens."""

    words: tuple[str, ...]
    predicted: TokenSequences
    right: TokenSequences
    orders: int

    @classmethod
    def of(
        cls, predictions: Sequence[Sequence[str]], references: Sequence[Sequence[str]], rows: Ints, orders: int
    ) -> "NistCorpus":
        """Return the state of tokens; `rows` is the prediction that each reference belongs to, in order."""
        predicted, right = encode_tokens((predictions, np.arange(len(predictions))), (references, rows))
        words = dict.fromkeys(word for tokens in (*predictions, *references) for word in tokens)
        return cls(tuple(words), predicted, right, orders)

    def __len__(self) -> int:
        return len(self.predicted.lengths)

    def __add__(self, other: "NistCorpus") -> "NistCorpus":
        if self.orders != other.orders:
            raise ValueError(f"states for n={self.orders} and n={other.orders} cannot be merged")
        words = dict.fromkeys((*self.words, *other.words))
        code = {word: place for place, word in enumerate(words)}
        table = np.array([code[word] for word in other.words], np.int64)
        predicted, right = (
            TokenSequences(
                np.concatenate([mine.codes, table[theirs.codes]]),
                np.concatenate([mine.lengths, theirs.lengths]),
                np.concatenate([mine.rows, theirs.rows + len(self)]),
            )
            for mine, theirs in ((self.predicted, other.predicted), (self.right, other.right))
        )
        return NistCorpus(tuple(words), predicted, right, self.orders)

    @cached_property
    def atoms(self) -> tuple[Ints, Ints]:
        """One atom for each row."""
        return np.arange(len(self)), np.ones(len(self), np.int64)

    def weighed(self, counts: NDArray[Any]) -> "WeightedCorpus":
        """See `Additive`."""
        return WeightedCorpus(self, counts.astype(float))

    @cached_property
    def grams(self) -> list[NgramOrder]:
        """The n-grams of each order."""
        return list(self._grams())

    def _grams(self) -> Iterator[NgramOrder]:
        from scipy import sparse

        pairs, size = len(self.right.lengths), max(len(self.words), 1)
        tokens, sequence, tokens_left = self._paired()
        row, theirs = self.right.rows[sequence % max(pairs, 1)], sequence >= pairs
        place, gram = np.arange(len(tokens)), np.zeros(len(tokens), np.int64)  # the empty beginning is everywhere
        for order in range(1, self.orders + 1):
            here = theirs[place]
            before = gram[here], row[place[here]]
            fits = tokens_left[place] >= order
            place = place[fits]
            gram, keys = dense_codes(gram[fits] * size + tokens[place + order - 1])
            cells = sparse.csr_array((np.ones(len(gram)), (sequence[place], gram)), (2 * pairs, len(keys)))
            shared = cells[:pairs].minimum(cells[pairs:]).tocsr()
            used, columns = np.unique(shared.indices, return_inverse=True)
            begins, start = np.unique(keys[used] // size, return_inverse=True)
            here = theirs[place]
            yield NgramOrder(
                _counts(gram[here], row[place[here]], used, len(self)),
                _counts(*before, begins, len(self)),
                start,
                sparse.csr_array((shared.data, columns, shared.indptr), (pairs, len(used))),
            )

    def _paired(self) -> tuple[Ints, Ints, Ints]:
        """All tokens, first of the prediction of each pair, then of its reference; their sequence (0..2P-1) and how
        many tokens are left in it."""
        owners = self.right.rows
        lengths = self.predicted.lengths[owners]
        starts = (np.cumsum(self.predicted.lengths) - self.predicted.lengths)[owners]
        inside = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        tokens = np.concatenate([self.predicted.codes[np.repeat(starts, lengths) + inside], self.right.codes])
        sizes = np.concatenate([lengths, self.right.lengths])
        sequence = np.repeat(np.arange(len(sizes)), sizes)
        return tokens, sequence, np.repeat(np.cumsum(sizes), sizes) - np.arange(len(tokens))


def _counts(gram: Ints, row: Ints, chosen: Ints, n: int) -> Any:
    from scipy import sparse

    places = np.full(int(max(gram.max(initial=-1), chosen.max(initial=-1))) + 1, -1)
    places[chosen] = np.arange(len(chosen))
    is_chosen = places[gram] >= 0
    return sparse.csr_array(
        (np.ones(int(is_chosen.sum())), (places[gram[is_chosen]], row[is_chosen])), (len(chosen), n)
    )


@dataclass(frozen=True)
class WeightedCorpus:
    """A corpus whose rows occur `times`, shape (..., n)."""

    corpus: NistCorpus
    times: Floats


def nist_score(total: WeightedCorpus) -> Floats:
    """NIST's score, of the shape of `total.times` without its last axis."""
    rows = total.times.reshape(-1, total.times.shape[-1])
    width = max(max((order.often.shape[0] for order in total.corpus.grams), default=1), rows.shape[1], 1)
    size = max(MAX_WEIGHTS // width, 1)
    blocks = (np.ascontiguousarray(rows[start : start + size].T) for start in range(0, len(rows), size))
    parts = [_scores(total.corpus, block) for block in blocks]
    return np.concatenate(parts).reshape(total.times.shape[:-1])


def nist_row_scores(total: WeightedCorpus) -> Floats:
    """NIST's score of each row by the information of the whole corpus, shape (n,)."""
    corpus = total.corpus
    possibles = possible_ngrams(corpus.predicted.lengths, corpus.orders)
    share, lengths = np.zeros(len(corpus)), np.zeros(len(corpus))
    for order, grams in enumerate(corpus.grams):
        hits, length = _best(corpus, grams.shared @ _information(grams, total.times[:, None]))
        share += ratio(hits[:, 0], possibles[:, order])
        lengths += length[:, 0]
    return share * _penalty(corpus.predicted.lengths * corpus.orders, lengths)


def _scores(corpus: NistCorpus, times: Floats) -> Floats:
    """Scores for columns of `times`, shape (n, b)."""
    predicted = corpus.predicted.lengths
    totals = np.column_stack([possible_ngrams(predicted, corpus.orders), predicted]).T.astype(float) @ times
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


def _information(grams: NgramOrder, times: Floats) -> Floats:
    bits: Floats = np.log2(np.maximum(ratio((grams.begun @ times)[grams.start], grams.often @ times, 1.0), 1.0))
    return bits


def _best(corpus: NistCorpus, hits: Floats) -> tuple[Floats, Floats]:
    """Of the `hits` of each pair, (P, b), those of each row's best reference, and its length; shapes (n, b)."""
    owners = corpus.right.rows
    starts = np.searchsorted(owners, np.arange(len(corpus)))
    most = np.maximum.reduceat(hits, starts, axis=0)
    good = hits >= most[owners] * (1 - 1e-12)  # sums of equal weights differ in their last digit
    return most, np.maximum.reduceat(np.where(good, corpus.right.lengths[:, None], 0.0), starts, axis=0)


def _penalty(predicted: NDArray[Any], right: NDArray[Any]) -> Floats:
    share = np.minimum(ratio(predicted, right), 1.0)
    penalty: Floats = np.where(share > 0, np.exp(BETA * np.log(np.where(share > 0, share, 1.0)) ** 2), 0.0)
    return penalty


class NistMt(Metric):
    """Shared n-grams, each weighing by the information that it carries."""

    columns = {"predictions": Texts(), "references": References()}

    def update(
        self,
        predictions: list[str],
        references: list[list[str]],
        *,
        n: int = 5,
        lowercase: bool = False,
        western_lang: bool = True,
    ) -> NistCorpus:
        """The tokens of all rows."""
        if n < 1:
            raise ValueError(f"n-grams have at least one token: n cannot be {n}")
        split = partial(words, lowercase=lowercase, western_lang=western_lang)
        texts, owners = flatten_references(references)
        return NistCorpus.of(tokenize_all(predictions, split), tokenize_all(texts, split), owners, n)

    def formula(self, total: WeightedCorpus) -> dict[str, Floats]:
        """See `nist_score`."""
        return {"nist_mt": nist_score(total)}

    def per_example(self, state: NistCorpus, **options: Any) -> dict[str, Floats]:
        """Each row by the information of the whole corpus, shape (n,)."""
        return {"nist_mt": nist_row_scores(state.total())}
