"""Words of a text with their places, as people would mark them.

Every model sees a text as these words, so that whatever it looked at can be shown on the text itself.
"""

import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from dynabench.models import emoji

LONGEST = 100
"""Characters of a word that a model reads; WordPiece calls anything longer unknown anyway."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text; `start` and `end` are character offsets into the text."""

    text: str
    start: int
    end: int


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    marks = "".join(
        re.escape(chr(point)) for point in range(0x300, 0x10000) if unicodedata.category(chr(point)) in {"Mn", "Mc"}
    )
    letter = rf"(?:\w[{marks}]*)"
    ideograph = "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]"
    modifier = f"(?:[{marks}\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f])"
    flag = "[\U0001f1e6-\U0001f1ff]{2}"
    symbol = rf"[^\w\s]{modifier}*(?:\u200d[^\w\s]{modifier}*)*"
    inner = r"['’\-]"
    word = rf"(?:(?!{ideograph}){letter})+(?:{inner}(?:(?!{ideograph}){letter})+)*"
    return re.compile(rf"{ideograph}|{word}|{flag}|([^\w\s])\1+|{symbol}")


def words(text: str) -> Iterator[Word]:
    """The words of `text` in order: letters with inner apostrophes and hyphens, one ideograph, one emoji with its
    modifiers, or a run of one punctuation mark.
    """
    for match in _pattern().finditer(text):
        yield Word(match.group(), match.start(), match.end())


def first_words(text: str, limit: int) -> list[Word]:
    """At most `limit` words; a text of any length costs no more than that."""
    return list(islice(words(text), limit))


@lru_cache(maxsize=65536)
def spoken(word: str) -> str:
    """Return the text that an encoder with an English vocabulary is given for a word.

    Emoji are given by their Unicode names: BERT's vocabulary lacks nearly all emoji, and "enraged face" says
    more than `[UNK]`.
    """
    if word.isascii():
        return sys.intern(word[:LONGEST])
    if not any(unicodedata.category(c) == "So" for c in word):
        return word[:LONGEST]
    return emoji.said(word[:LONGEST])
