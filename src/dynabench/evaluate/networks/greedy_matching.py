"""Greedy matching of tokens with the most similar ones of another text: pairs of texts as BERTScore scores them.

Zhang, Kishore, Wu, Weinberger and Artzi, BERTScore: Evaluating Text Generation with BERT, ICLR 2020, section 3.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from dynabench.evaluate.columns import Floats
from dynabench.evaluate.labels import Ints
from dynabench.evaluate.networks.embeddings import EmbeddedText
from dynabench.evaluate.states import Sums

TokenWeights = Mapping[Hashable, float]


class MatchedSide(NamedTuple):
    """Tokens of one text of a pair, without special ones, and the similarity of each to its match, (T,)."""

    tokens: tuple[Hashable, ...]
    best: Floats


class MatchedPair(NamedTuple):
    """A candidate and a reference."""

    candidate: MatchedSide
    reference: MatchedSide


def match_tokens(candidate: EmbeddedText, reference: EmbeddedText) -> MatchedPair:
    """Match each token with the most similar one of the other text; special tokens can be matches, but need none."""
    if not (candidate.own.any() and reference.own.any()):
        none = np.zeros(0)
        return MatchedPair(MatchedSide((), none), MatchedSide(_own(reference), none))
    alike = candidate.vectors @ reference.vectors.T
    return MatchedPair(
        MatchedSide(_own(candidate), alike.max(1)[candidate.own]),
        MatchedSide(_own(reference), alike.max(0)[reference.own]),
    )


@dataclass(frozen=True)
class TokenMatches:
    """Matched pairs of each row, one for each of its references; with weights and baseline, a state.

    `idf` is True for weights from all references (so they change as batches merge), or the weights themselves;
    `baseline` are the values of precision, recall and F1 that become 0.
    """

    rows: tuple[tuple[MatchedPair, ...], ...]
    idf: bool | TokenWeights = False
    baseline: tuple[float, ...] | None = None
    hashcode: str = ""

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: "TokenMatches") -> "TokenMatches":
        if self.hashcode != other.hashcode or self.baseline != other.baseline or self.idf != other.idf:
            raise ValueError("only batches of the same model, layer, weights and baseline merge")
        return TokenMatches(self.rows + other.rows, self.idf, self.baseline, self.hashcode)

    @cached_property
    def scores(self) -> Sums:
        """Precision, recall and F1 of each row, shape (n, 3): the best of its references, each by itself."""
        weights = self._weights()
        score_rows = np.array([np.max([_score(pair, weights) for pair in pairs], 0) for pairs in self.rows])
        if self.baseline is not None:
            base = np.array(self.baseline)
            score_rows = (score_rows - base) / (1 - base)
        return Sums(score_rows)

    def total(self) -> Floats:
        """See `State`: sums of the three, and the number of rows."""
        sums: Floats = self.scores.total()
        return sums

    def resamples(self, rng: np.random.Generator, times: int) -> Iterator[Floats]:
        """See `State`; weights stay those of all references."""
        return self.scores.resamples(rng, times)

    def left_out(self) -> Iterator[tuple[Floats, Ints]]:
        """See `State`."""
        return self.scores.left_out()

    def at(self, rows: Ints) -> Floats:
        """See `State`."""
        totals: Floats = self.scores.at(rows)
        return totals

    def _weights(self) -> TokenWeights | None:
        """Inverse document frequencies with one added, of tokens of all references (Zhang et al., equation 1)."""
        if not isinstance(self.idf, bool):
            return self.idf
        if not self.idf:
            return None
        texts = [pair.reference.tokens for pairs in self.rows for pair in pairs]
        counts = Counter(token for tokens in texts for token in set(tokens))
        return _Frequencies(
            {token: float(np.log((len(texts) + 1) / (n + 1))) for token, n in counts.items()}, len(texts)
        )


class _Frequencies(dict[Hashable, float]):
    """Weights, with that of an unseen token."""

    def __init__(self, weights: dict[Hashable, float], texts: int) -> None:
        super().__init__(weights)
        self.unseen = float(np.log(texts + 1))

    def __missing__(self, token: Hashable) -> float:
        return self.unseen


def _score(pair: MatchedPair, weights: TokenWeights | None) -> tuple[float, float, float]:
    if not len(pair.candidate.best):
        return 0.0, 0.0, 0.0
    precision, recall = _mean(pair.candidate, weights), _mean(pair.reference, weights)
    total = precision + recall
    return precision, recall, 2 * precision * recall / total if total else 0.0


def _mean(side: MatchedSide, weights: TokenWeights | None) -> float:
    if weights is None:
        return float(side.best.mean())
    try:
        weight = np.array([weights[token] for token in side.tokens], float)
    except KeyError as error:
        raise ValueError(f"idf has no weight for the token {error}; add it") from None
    # where all weights are 0 (every token is in every reference), all tokens weigh the same
    return float((side.best * weight).sum() / weight.sum()) if weight.sum() else float(side.best.mean())


def _own(text: EmbeddedText) -> tuple[Hashable, ...]:
    return tuple(token for token, own in zip(text.tokens, text.own, strict=True) if own)
