"""Emoji in words, for encoders whose vocabulary lacks them."""

import re
import unicodedata
from functools import lru_cache

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


def said(word: str) -> str:
    """Words for a word with emoji: names, "dark skinned" for skin tones, countries for flags.

    `word` is one emoji with what modifies it or joins it, or a run of one emoji.
    """
    run = word[:1] * len(word) == word
    return _said(word[:REPEATS] if run else word)


def _said(word: str) -> str:
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


def _gendered(name: str, who: str) -> str:
    skin, middle, rest = name.rpartition(" skinned ")
    return f"{skin}{middle}{who} {_PERSON.sub('', rest)}".strip()


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
