"""Words of a text, and what must not be touched since changing it may change what is said."""

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from dynabench.adversaries.perturbations.edits import Span

_WORD = re.compile(r"(?<![\w'’-])[A-Za-z]+(?:['’][A-Za-z]+)?(?![\w-])")
"""ASCII letters, perhaps with an apostrophe; parts of compounds and words of other scripts are none."""
_KEPT = re.compile(
    r"""https?://\S+|www\.\S+|\S+@\S+|[@#]\w+|<[^<>]{0,200}>|&\#?\w+;|\{[^{}]{0,100}\}|[\w.,:/$€£%-]*\d[\w.,:/%-]*"""
    r"""|\b\w+\.(?:com|org|net|edu|gov|io|co|uk|de)\b\S*|(?:\b[A-Za-z]\.){2,}"""
)
"""Addresses, mentions, markup, placeholders, whatever has a digit in it, initials."""
_HINT = re.compile(r"[@#&\d]|://|\.(?=\S)")
"""What each match of `_KEPT` has in it, but for markup and placeholders; these alone have spaces in them."""
_SPACELESS = re.compile(r"\S+")
_BEFORE = 12  # code points that say whether a sentence begins
_END = re.compile(r"(?:^|[.!?…:;\"“”‘«(\[\n]['\"“”’)\]]*\s*|--\s*|[•*-]\s+)$")
NEGATIONS = frozenset("no not nor none never nothing nobody neither without cannot cant dont isnt wont".split())
"""A changed letter here turns what is said around."""
_INVISIBLE = ("Mn", "Me", "Mc", "Cf", "Sk")
SHARED = 8
"""Texts whose words are kept in mind: a row's, which every transformation looks at."""


class Word(NamedTuple):
    """A word of `text[start:end]`. `name` says that it may be a name: a capital that no sentence's begin explains."""

    text: str
    start: int
    end: int
    begins: bool
    name: bool

    @property
    def plain(self) -> bool:
        """Whether letters may be changed: lower case, at least five letters, no apostrophe, no negation."""
        return len(self.text) >= 5 and self.text.isalpha() and self.text.islower() and self.text not in NEGATIONS


def kept(text: str) -> list[Span]:
    """Addresses, mentions, markup, placeholders and numbers."""
    if "<" in text or "{" in text:
        return [match.span() for match in _KEPT.finditer(text)]
    found, end = list[Span](), 0
    for hint in _HINT.finditer(text):  # the pattern tries every place of what it is given: it gets little
        if hint.start() >= end:
            start = hint.start()
            while start > end and not text[start - 1].isspace():
                start -= 1
            end = _SPACELESS.match(text, start).end()  # type: ignore[union-attr]
            found += [match.span() for match in _KEPT.finditer(text, start, end)]
    return found


@lru_cache(SHARED)
def words(text: str) -> tuple[Word, ...]:
    """The words outside of what is `kept`, in order, but for those with a combining or invisible character beside."""
    spans, found = kept(text), list[Word]()
    odd = _odd(text)
    at = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        while at < len(spans) and spans[at][1] <= start:
            at += 1
        if at < len(spans) and spans[at][0] < end:
            continue
        if odd and (text[start - 1 : start] in odd or text[end : end + 1] in odd):
            continue
        said, begins = match[0], _begins(text, start)
        name = said[0].isupper() and not begins and said != "I" and not said.startswith(("I'", "I’"))
        found.append(Word(said, start, end, begins, name))
    return tuple(found)


def _odd(text: str) -> set[str]:
    """The combining and invisible characters in a text; two of them are ASCII."""
    if text.isascii() and "^" not in text and "`" not in text:
        return set()
    return {character for character in set(text) if unicodedata.category(character) in _INVISIBLE}


def _begins(text: str, start: int) -> bool:
    """Whether a sentence begins here; most words have a space and another word before them."""
    if start > 1 and text[start - 1] == " " and text[start - 2].isalnum():
        return False
    return _END.search(text[max(0, start - _BEFORE) : start]) is not None


def like(pattern: str, word: str) -> str:
    """`word` with the casing of `pattern`: lower, Capitalised or UPPER."""
    if len(pattern) > 1 and pattern.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if pattern[:1].isupper() else word


REAL = frozenset(
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
