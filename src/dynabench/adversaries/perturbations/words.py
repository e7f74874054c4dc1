"""Words of a text, and the parts that must not be touched, since a change there may change the meaning."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from dynabench.adversaries.perturbations.text_edits import Span

_WORD = re.compile(r"(?<![\w'’-])[A-Za-z]+(?:['’][A-Za-z]+)?(?![\w-])")
"""ASCII letters, perhaps with an apostrophe; parts of compounds and words of other scripts are none."""
_PROTECTED = re.compile(
    r"""https?://\S+|www\.\S+|\S+@\S+|[@#]\w+|<[^<>]{0,200}>|&\#?\w+;|\{[^{}]{0,100}\}|[\w.,:/$€£%-]*\d[\w.,:/%-]*"""
    r"""|\b\w+\.(?:com|org|net|edu|gov|io|co|uk|de)\b\S*|(?:\b[A-Za-z]\.){2,}"""
)
"""Addresses, mentions, markup, placeholders, everything with a digit in it, initials."""
_PROTECTED_HINT = re.compile(r"[@#&\d]|://|\.(?=\S)")
"""Characters that each match of `_PROTECTED` contains, but for markup and placeholders; only these contain spaces."""
_SPACELESS = re.compile(r"\S+")
_CHARACTERS_BEFORE = 12  # code points that decide whether a sentence begins
_SENTENCE_START = re.compile(r"(?:^|[.!?…:;\"“”‘«(\[\n]['\"“”’)\]]*\s*|--\s*|[•*-]\s+)$")
NEGATIONS = frozenset("no not nor none never nothing nobody neither without cannot cant dont isnt wont".split())
"""A changed letter in one of these words reverses the meaning."""
_INVISIBLE_CATEGORIES = ("Mn", "Me", "Mc", "Cf", "Sk")
CACHE_SIZE = 8
"""Texts whose words are cached: those of one row, which every transformation reads."""


class Word(NamedTuple):
    """A word of `text[start:end]`.

    `may_be_name` is true for a capital that does not come from the beginning of a sentence.
    """

    text: str
    start: int
    end: int
    begins_sentence: bool
    may_be_name: bool

    @property
    def plain(self) -> bool:
        """Return whether letters may be changed: lower case, at least five letters, no apostrophe, no negation."""
        return len(self.text) >= 5 and self.text.isalpha() and self.text.islower() and self.text not in NEGATIONS


def protected_spans(text: str) -> list[Span]:
    """Return the spans of addresses, mentions, markup, placeholders and numbers."""
    if "<" in text or "{" in text:
        return [match.span() for match in _PROTECTED.finditer(text)]
    spans, end = list[Span](), 0
    for hint in _PROTECTED_HINT.finditer(text):  # the pattern is slow, since it tries every place: it gets little text
        if hint.start() >= end:
            start = hint.start()
            while start > end and not text[start - 1].isspace():
                start -= 1
            end = _SPACELESS.match(text, start).end()  # type: ignore[union-attr]
            spans += [match.span() for match in _PROTECTED.finditer(text, start, end)]
    return spans


@lru_cache(CACHE_SIZE)
def words(text: str) -> tuple[Word, ...]:
    """Return the words outside of protected spans, in order.

    Words beside a combining or invisible character are left out.
    """
    spans, text_words = protected_spans(text), list[Word]()
    invisible = _invisible_characters(text)
    at = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        if at < len(spans) and spans[at][0] < end:
            continue
        if invisible and (text[start - 1 : start] in invisible or text[end : end + 1] in invisible):
            continue
        word, begins = match[0], _begins_sentence(text, start)
        may_be_name = word[0].isupper() and not begins and word != "I" and not word.startswith(("I'", "I’"))
        text_words.append(Word(word, start, end, begins, may_be_name))
    return tuple(text_words)


def _invisible_characters(text: str) -> set[str]:
    """Two of the combining and invisible characters are ASCII."""
    if text.isascii() and "^" not in text and "`" not in text:
        return set()
    return {character for character in set(text) if unicodedata.category(character) in _INVISIBLE_CATEGORIES}


def _begins_sentence(text: str, start: int) -> bool:
    """Most words have a space and another word before them, so that is checked first."""
    if start > 1 and text[start - 1] == " " and text[start - 2].isalnum():
        return False
    return _SENTENCE_START.search(text[max(0, start - _CHARACTERS_BEFORE) : start]) is not None


def match_case(pattern: str, word: str) -> str:
    """Return `word` with the casing of `pattern`: lower, Capitalised or UPPER."""
    if len(pattern) > 1 and pattern.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if pattern[:1].isupper() else word


REAL_WORDS = frozenset(
    """
    about again angel angle bared barred beast bought breath breast brought casual causal clam calm cold coral
    costal could coastal county country dairy diary desert dessert dinner diner every ever even except expect father
    farther feather feast fired fried form from hoping hopping later latter latte least lead lose loose marital
    martial mate mated matted minster minister monkey money moping mopping mother moths other others own owned piano
    paino place pace plane pain plain plan quiet quite quit raping rapping read relay really rely rated rating
    ratting rose sacred scared scarred shit shirt shot short sing sting spilt split spiting stain star stare staring
    starring start state stats store sores still stile steal stead tared tarred than thank then thee their there
    these those though thought through threw though throughout tired tried trail trial united untied unite untie
    wander wonder want went were where whether weather which witch whose within women woman world word words would
    write writer winner wine wined wife while white whit cloud cloth clothes close chose choose crash crass crowd
    crown corps corpse curb disc dead dear dread bead bread broad board boar bored beard been bean bear bare bars
    brass bass base abuse amuse artist arts crate create cute cutie peal pearl pear party parts parity pasty pastry
    patent parent patents parents heart hear heard head heat hearth hearts hearty shard share shared sharp sport
    spot spots sports posts post pots step steep sleep sheep sweat sweet swear wear ware tear treat threat teat tram
    team trams steam stream seam seat sear gain grain grand gand gland hand sand stand strand string sling swing
    wing fist first frist fits fight flight fright right night might light sight slight freight eight height weight
    bight sold solid sod soar sour soul foul fowl flow flower follow fellow yellow hollow holly holy wholly whole
    hole
    """.split()
)
"""Words that one changed letter turns others into: a typing error must not make one of them."""
