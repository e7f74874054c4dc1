"""Words replaced by words of nearly the same meaning, part of speech and form."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any, Literal

import numpy as np

from dynabench.adversaries.perturbations.words import like
from dynabench.adversaries.proposing import Adversary, Budget, Candidate, Context, Target
from dynabench.adversaries.search import grammar, lexicon
from dynabench.adversaries.search.fixed import fixed
from dynabench.adversaries.search.greedy import Limits, greedy
from dynabench.adversaries.search.similarity import cosines, word_vectors

Words = Literal["synonyms", "neighbours", "both"]
AROUND = 5
"""Words to either side that tell the part of speech."""
NEAR = 0.45
"""The least cosine between the encoder's embeddings of two words that count as neighbours."""
MOST = 24
"""Words tried in one place."""


class Substitution(Adversary):
    """Word-importance search over synonyms of a lexicon, or over neighbours in the encoder's own embeddings.

    Keeps function words, negations, quantities, names and whom a text is about; the part of speech and form of each
    word; at least `similarity` (cosine of the shared sentence encoder between the text and its original); and all but
    the `share` of words. `alone` is the least cosine of two words read alone, below which are synonyms
    in a rare sense (*run* and *lead*); `rare` is how often a million sentences of news must have a new word.
    """

    name = "substitution"
    version = "1"

    def __init__(
        self,
        words: Words = "synonyms",
        similarity: float = 0.85,
        share: float = 0.25,
        alone: float = 0.55,
        rare: int = 5,
        fields: Sequence[str] = (),
    ) -> None:
        self._words, self._alone, self._rare = words, alone, rare
        self._limits, self._fields = Limits(similarity, share), tuple(fields)

    def propose(self, context: Context, target: Target, budget: Budget) -> Iterator[Candidate]:
        """The text that fools the target, or else the nearest to it that was found."""
        return greedy(context, target, budget, self._instead, self._limits, self._fields)

    def _instead(self, words: Sequence[str], at: int) -> list[str]:
        """Words that can stand in the place of `words[at]`."""
        found = instead(tuple(words), at, self._words, self._alone)
        return [new for new in found if lexicon.common().get(new.lower(), 0) >= self._rare]


@lru_cache(4096)
def instead(words: tuple[str, ...], at: int, source: Words, alone: float) -> tuple[str, ...]:
    """Words of the same part of speech and form as `words[at]`, nearest first where that is known."""
    word, start = words[at], max(0, at - AROUND)
    if word.lower() in fixed():
        return ()
    window = words[start : at + AROUND + 1]
    said = grammar.labels(window)[at - start]
    part = said.partition("|")[0]
    if part not in grammar.OPEN:
        return ()
    found = list[str]()
    for new in _alike(word, part, source):
        fits = new.isalpha() and new.lower() not in fixed() and new.lower() != word.lower() and new not in found
        if fits and (at == 0 or grammar.article_fits(words[at - 1], new)):
            changed = (*window[: at - start], new, *window[at - start + 1 :])
            if grammar.labels(changed) == grammar.labels(window):
                found.append(new)
    nears = cosines(word.lower(), [new.lower() for new in found])
    return tuple(new for new, near in zip(found, nears, strict=True) if near >= alone)[:MOST]


def _alike(word: str, part: str, source: Words) -> Iterator[str]:
    base = grammar.lemma(word, part)
    if source != "neighbours":
        for other in lexicon.synonyms().get(base, ()):
            if other != base and (new := grammar.inflected(other, word, part)):
                yield like(word, new)
    if source != "synonyms":
        for new in neighbours(word.lower()):
            other = grammar.lemma(new, part)
            if other != base and grammar.inflected(other, word, part) == new and not lexicon.opposed(base, other):
                yield like(word, new)


@lru_cache(8192)
def neighbours(word: str, most: int = 2 * MOST) -> tuple[str, ...]:
    """The words nearest to `word` in the encoder's token embeddings, nearest first; none for what is no one token."""
    names, vectors, places = _vocabulary()
    if word not in places:
        return ()
    cosines = vectors @ vectors[places[word]]
    order = np.argsort(-cosines)[1 : most + 1]
    return tuple(names[at] for at in order if cosines[at] >= NEAR)


@cache
def _vocabulary() -> tuple[list[str], Any, dict[str, int]]:
    """The encoder's tokens that are words of English, their unit embeddings, shape (words, width), and their places."""
    from dynabench.models import encoder

    known = encoder.tokenizer().get_vocab()
    names = sorted(word for word in known if len(word) > 2 and word.isalpha() and word in lexicon.real())
    vectors = word_vectors([known[word] for word in names])
    return names, vectors, {word: at for at, word in enumerate(names)}
