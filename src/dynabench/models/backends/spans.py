"""From what the head says of each piece to an answer: spans of whole words, their probabilities, the best of them.

Reading spans off start and end logits is BERT's (Devlin et al., NAACL 2019, section 4.2).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynabench.models.backends.pieces import Reading
from dynabench.tasks.words import answer_words

LONGEST = 21
"""Pieces of an answer at most, as in training."""
CANDIDATES = 64
"""Spans of pieces that are looked at closely."""
TEXTS = 20
"""Different answers that are weighed against each other."""
EXACT = 0.5
"""How much being right to the word is worth beside the expected word F1."""


@dataclass(frozen=True)
class Span:
    """A possible answer: characters `start` to `end` of the passage, and how likely it is.

    `window` is where it was read best, with the pieces of that window at which it begins and ends.
    """

    start: int
    end: int
    text: str
    probability: float
    window: int
    first: int
    last: int


def spans(reading: Reading, window_logits: Sequence[NDArray[np.floating]], longest: int = LONGEST) -> list[Span]:
    """Possible answers, the likeliest first; `window_logits` holds logits (T, 2) of each window, padding included.

    A span's probability is its share of all spans of at most `longest` pieces, over all windows.
    """
    n = len(reading.word)
    if not n:
        return []
    table, seen = np.full((n, longest), -np.inf), np.zeros((n, longest), int)
    for index, (window, logits) in enumerate(zip(reading.windows, window_logits, strict=True)):
        mine = _scores(np.asarray(logits, float)[window.at : window.at + window.count], longest)
        rows = slice(window.first, window.first + window.count)
        better = mine > table[rows]
        table[rows][better] = mine[better]
        seen[rows][better] = index
    odds = np.exp(table - table.max())
    shares = (odds / odds.sum()).ravel()
    likeliest = np.argsort(-shares, kind="stable")[:CANDIDATES]
    span_by_place: dict[tuple[int, int], Span] = {}
    for place in likeliest[shares[likeliest] > 0]:
        first, length = divmod(int(place), longest)
        span = _span(reading, first, first + length, float(shares[place]), int(seen.ravel()[place]))
        earlier = span_by_place.get((span.start, span.end))
        span_by_place[span.start, span.end] = span if earlier is None else _joined(earlier, span)
    return sorted(span_by_place.values(), key=lambda span: -span.probability)


def _scores(logits: NDArray[np.float64], longest: int) -> NDArray[np.float64]:
    """Sum of start and end logits (n, longest) of the spans that begin at piece i and have k + 1 pieces."""
    n = len(logits)
    ends = np.concatenate([logits[:, 1], np.full(longest - 1, -np.inf)])
    return np.asarray(logits[:, :1] + np.lib.stride_tricks.sliding_window_view(ends, longest)[:n])


def _span(reading: Reading, first: int, last: int, share: float, window: int) -> Span:
    start, end = reading.words[reading.word[first]].start, reading.words[reading.word[last]].end
    shift = reading.windows[window].at - reading.windows[window].first
    return Span(start, end, reading.passage[start:end], share, window, first + shift, last + shift)


def _joined(likelier: Span, other: Span) -> Span:
    """Two spans of pieces that cover the same words count as one; the likelier is where it was read."""
    return Span(
        likelier.start,
        likelier.end,
        likelier.text,
        likelier.probability + other.probability,
        likelier.window,
        likelier.first,
        likelier.last,
    )


def best(candidates: Sequence[Span]) -> Span:
    """The answer: the first of `ranked`."""
    return ranked(candidates)[0][1][0]


def ranked(candidates: Sequence[Span]) -> list[tuple[float, list[Span]]]:
    """Possible texts, the best first: what speaks for each, and its spans, the likeliest first.

    For a text speaks its expected word F1 against the likeliest texts, plus `EXACT` times its own probability: so
    nearly the same answers support each other. Texts count as one when they differ in nothing that word F1 sees. This
    is the choice of least Bayes risk (Kumar and Byrne, NAACL 2004); 20 texts and 0.5 were chosen on training questions
    that the shipped model had not seen.
    """
    groups: dict[tuple[str, ...], list[Span]] = {}
    for span in candidates:
        groups.setdefault(tuple(answer_words(span.text)), []).append(span)
    texts = sorted(groups, key=lambda text: -_total(groups[text]))[:TEXTS]
    shares = np.array([_total(groups[text]) for text in texts])
    gain = (_f1(texts) + EXACT * np.eye(len(texts))) @ shares
    return [(float(gain[at]), groups[texts[at]]) for at in np.argsort(-gain, kind="stable")]


def _total(group: Sequence[Span]) -> float:
    return sum(span.probability for span in group)


def _f1(texts: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
    """Word F1 of each text against each, shape (n, n), as `word_f1` has it."""
    place = {word: index for index, word in enumerate(sorted({word for text in texts for word in text}))}
    bags = np.zeros((len(texts), len(place)), int)
    for row, text in enumerate(texts):
        np.add.at(bags[row], [place[word] for word in text], 1)
    common = np.minimum(bags[:, None], bags[None]).sum(-1)
    sizes = bags.sum(-1)
    total = sizes[:, None] + sizes[None]
    return np.asarray(np.divide(2 * common, total, out=np.ones(common.shape), where=total > 0))


def likeliest(candidates: Sequence[Span], chosen: Span, count: int = 3) -> dict[str, float]:
    """Probabilities of `count` texts, that of the chosen answer among them, the likeliest first."""
    shares: dict[str, float] = {}
    for span in candidates:
        shares[span.text] = shares.get(span.text, 0.0) + span.probability
    order = sorted(shares, key=lambda text: (text != chosen.text, -shares[text]))[:count]
    return {text: round(shares[text], 6) for text in sorted(order, key=lambda text: -shares[text])}
