"""Words of a text, with their places, and emoji as words."""

import re
import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

TONES = dict(zip("🏻🏼🏽🏾🏿", ("light", "light", "medium", "dark", "dark"), strict=True))
"""Skin tones in as many steps as short words have for them."""

BETTER = {
    "❤": "red heart", "♥": "heart", "❣": "heart exclamation", "☺": "smiling face", "☹": "frowning face",
    "🔪": "kitchen knife", "👽": "alien", "💩": "poo", "🏳": "white flag", "🏴": "black flag", "⚧": "transgender",
    "🤬": "face with symbols on mouth, cursing", "🤮": "vomiting face", "😤": "angry snorting face",
    "🅿": "p", "🅾": "o", "🅰": "a", "🅱": "b", "🆎": "ab", "☮": "peace", "✡": "star of david", "☪": "star and crescent",
    "♿": "wheelchair", "🖕": "middle finger", "👺": "goblin", "👹": "ogre", "🍑": "peach", "🚺": "women", "🚹": "men",
}  # fmt: skip
"""Plain words where Unicode's name misleads: "heavy black heart" is red, "hocho" is a knife."""

JOINED = {
    "🏳🌈": "rainbow pride flag",
    "🏳⚧": "transgender pride flag",
    "🏴☠": "pirate flag",
    "👁🗨": "eye in speech bubble",
}
"""Sequences that mean something else than their parts."""

GENDERS = {"♂": "man", "♀": "woman"}
REPEATS = 3
"""How often a repeated emoji is said: more of the same says little more."""
_PERSON = re.compile(r"^(?:(?:happy )?person|man|woman)\b ?")
_LETTER = re.compile(
    r"^(?:negative |crossed negative )?(?:circled|squared|parenthesized) (?:latin (?:capital|small) letter )?(\w{1,3})$"
)
_REGION = re.compile(r"regional indicator symbol letter (\w)")


def describe_emoji(word: str) -> str:
    """Words for a word with emoji: names, "dark skinned" for skin tones, countries for flags.

    `word` is one emoji with what modifies it or joins it, or a run of one emoji.
    """
    run = word[:1] * len(word) == word
    return _describe_emoji(word[:REPEATS] if run else word)


def _describe_emoji(word: str) -> str:
    country = _country(word)
    if country:
        return f"flag of {country}"
    bare = "".join(c for c in word if c not in TONES and not unicodedata.category(c).startswith(("M", "C")))
    if bare in JOINED:
        return JOINED[bare]
    parts: list[str] = []
    for character in word:
        if character in TONES:
            parts.append(f"{TONES[character]} skinned {parts.pop() if parts else ''}".strip())
        elif character in GENDERS and parts:
            parts[-1] = _gendered(parts[-1], GENDERS[character])
        elif name := _name(character):
            parts.append(name)
    return " ".join(parts)


def _gendered(name: str, gender: str) -> str:
    skin, middle, rest = name.rpartition(" skinned ")
    return f"{skin}{middle}{gender} {_PERSON.sub('', rest)}".strip()


@lru_cache(maxsize=8192)
def _name(character: str) -> str:
    """Lower-case words for one character, empty for joiners and variation selectors."""
    kind = unicodedata.category(character)
    if kind.startswith(("M", "C")):
        return ""
    if kind != "So":
        return character
    if character in BETTER:
        return BETTER[character]
    plain = unicodedata.normalize("NFKC", character)
    if plain != character:
        return plain.lower()
    name = unicodedata.name(character, "").lower()
    letter = _LETTER.match(name) or _REGION.match(name)
    return letter.group(1) if letter else name.removesuffix(" sign").removesuffix(" symbol")


def _country(word: str) -> str:
    """The English name of the place whose flag `word` is, or nothing."""
    letters = _REGION.findall(" ".join(unicodedata.name(c, "").lower() for c in word[:2]))
    tags = "".join(chr(ord(c) - 0xE0000) for c in word[1:] if 0xE0061 <= ord(c) <= 0xE007A)
    if len(word) == 2 and len(letters) == 2:
        from babel import Locale

        return str(Locale("en").territories.get("".join(letters).upper(), "")).lower()
    nations = {"gbeng": "england", "gbsct": "scotland", "gbwls": "wales"}
    return nations.get(tags, "") if word[0] == "🏴" else ""


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
    return describe_emoji(word[:LONGEST])
