"""Hashed n-gram features of one or two texts, each with the words it came from.

Every feature is a sum over occurrences, and every occurrence belongs to one or two words; so a linear model's logits
split over words without remainder.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from dynabench.models.words import Word, first_words

WORDS = 400
"""Words of each field that are read."""
STEM = 4
"""Words that begin with so many common letters count as forms of one word."""
NOTHING = -1


@dataclass(frozen=True)
class Options:
    """Options of the features; `pairs` adds those that relate a second text to the first."""

    bits: int
    characters: tuple[int, int] | None
    word_grams: int
    pairs: bool


@dataclass(frozen=True)
class Features:
    """Occurrences of features in one input, and its words.

    `index` (n,) are columns below 2**bits, `value` (n,) the amounts, `owner` (n, 2) positions in the fields' words
    joined, the second -1 where one word alone owns the occurrence.
    """

    index: NDArray[np.int64]
    value: NDArray[np.float64]
    owner: NDArray[np.int64]
    words: tuple[tuple[Word, ...], ...]

    def __len__(self) -> int:
        return len(self.index)


class _Collector:
    def __init__(self, bits: int) -> None:
        self._mask = (1 << bits) - 1
        self.rows: list[tuple[int, float, int, int]] = []

    def add(self, name: str, first: int, second: int = NOTHING, value: float = 1.0) -> None:
        self.rows.append((crc32(name.encode("utf-8", "surrogatepass")) & self._mask, value, first, second))


def extract(texts: Sequence[str], options: Options) -> Features:
    """Features of one text, or of two with the second read against the first."""
    words = tuple(tuple(first_words(text, WORDS)) for text in texts)
    found = _Collector(options.bits)
    if options.pairs:
        _related(found, words[0], words[1], options)
    else:
        _alone(found, words[0], options, "", 0)
    length = float(np.sqrt(sum(value * value for _, value, _, _ in found.rows))) or 1.0
    index, value, first, second = zip(*found.rows, strict=True) if found.rows else ((), (), (), ())
    return Features(
        np.array(index, np.int64),
        np.array(value, float) / length,
        np.stack([np.array(first, np.int64), np.array(second, np.int64)], -1),
        words,
    )


def _alone(found: _Collector, words: Sequence[Word], options: Options, prefix: str, offset: int) -> None:
    """N-grams of words, and of characters within a word with its borders marked."""
    texts = [word.text.lower() for word in words]
    for place, text in enumerate(texts):
        found.add(f"{prefix}w {text}", offset + place)
        if options.word_grams > 1 and place:
            found.add(f"{prefix}w {texts[place - 1]} {text}", offset + place - 1, offset + place)
        if options.word_grams > 2 and place > 1:
            found.add(f"{prefix}w {texts[place - 2]} {texts[place - 1]} {text}", offset + place - 2, offset + place)
        if options.characters:
            _characters(found, f"<{text[:30]}>", options.characters, prefix, offset + place)


def _characters(found: _Collector, text: str, sizes: tuple[int, int], prefix: str, owner: int) -> None:
    for size in range(sizes[0], sizes[1] + 1):
        for start in range(len(text) - size + 1):
            found.add(f"{prefix}c {text[start : start + size]}", owner, value=0.5)


def _related(found: _Collector, first: Sequence[Word], second: Sequence[Word], options: Options) -> None:
    """The second text alone, which of its words the first has, lacks or bends, and pairs of a word of each.

    Nothing here counts words or lengths: with such features, taking a word away changes the shares of all others, and
    the words that weigh most are no longer those that matter most.
    """
    _alone(found, second, options, "h ", len(first))
    if not second:
        return
    there = {word.text.lower(): place for place, word in enumerate(first)}
    stems = {text[:STEM]: place for text, place in there.items()}
    new: list[tuple[int, str]] = []
    for place, word in enumerate(second):
        text, owner = word.text.lower(), len(first) + place
        if text in there:
            found.add(f"same {text}", there[text], owner)
            found.add("same", there[text], owner, 4 / len(second))
        elif len(text) >= STEM and text[:STEM] in stems:
            found.add(f"form {text}", stems[text[:STEM]], owner)
            found.add("form", stems[text[:STEM]], owner, 4 / len(second))
        else:
            found.add(f"new {text}", owner)
            found.add("new", owner, value=4 / len(second))
            new.append((owner, text))
    stated = {word.text.lower() for word in second}
    for place, word in enumerate(first):
        text = word.text.lower()
        if text not in stated:
            for owner, other in new:
                found.add(f"pair {text} {other}", place, owner, 0.5)


def by_word(features: Features, weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Contribution of each word (all fields joined) when occurrence i has weight `weights[i]`; shape (words,)."""
    amounts = features.value * weights
    alone = features.owner[:, 1] == NOTHING
    sums = np.zeros(sum(len(field) for field in features.words))
    np.add.at(sums, features.owner[:, 0], np.where(alone, amounts, amounts / 2))
    np.add.at(sums, features.owner[~alone, 1], amounts[~alone] / 2)
    return sums
