"""Edits of texts, and the interface of transformations, which propose them."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Literal, NamedTuple, Protocol
from zlib import adler32

Span = tuple[int, int]
"""First code point and the one after the last."""


class Edit(NamedTuple):
    """The characters from `start` up to `end` become `new`; an insertion where both are equal."""

    start: int
    end: int
    new: str

    def touches(self, span: Span) -> bool:
        """Return whether the edit changes something inside `span`; an insertion at its border does not."""
        if self.start == self.end:
            return span[0] < self.start < span[1]
        return self.start < span[1] and span[0] < self.end


@dataclass(frozen=True, slots=True)
class EditedText:
    """A changed text: `text` is `old` with `edits`, which are in order and do not overlap."""

    old: str
    text: str
    edits: tuple[Edit, ...]

    def span(self, start: int, end: int) -> Span | None:
        """Return where the characters from `start` up to `end` of the old text are in the new one.

        Insertions at a border stay outside. None where an edit reaches across a border, or nothing is left.
        """
        shift_start = shift_end = 0
        for edit in self.edits:
            growth = len(edit.new) - (edit.end - edit.start)
            if edit.end <= start:
                shift_start, shift_end = shift_start + growth, shift_end + growth
            elif start <= edit.start and edit.end <= end and (edit.start, edit.end) != (end, end):
                shift_end += growth
            elif edit.start < end:
                return None
        new_span = start + shift_start, end + shift_end
        return new_span if new_span[0] < new_span[1] else None


def apply_edits(text: str, edits: Iterable[Edit], locked: Sequence[Span] = ()) -> EditedText | None:
    """Return `text` with `edits`, but for those that touch a `locked` span, change nothing or overlap an earlier edit.

    None where nothing changes.
    """
    accepted: list[Edit] = []
    for edit in sorted(edits):
        last = accepted[-1] if accepted else None
        apart = last is None or (last.end <= edit.start and (edit.start, edit.end) != (last.start, last.end))
        if apart and text[edit.start : edit.end] != edit.new and not any(edit.touches(span) for span in locked):
            accepted.append(edit)
    pieces, at = [], 0
    for edit in accepted:
        pieces += [text[at : edit.start], edit.new]
        at = edit.end
    new_text = "".join(pieces) + text[at:]
    return EditedText(text, new_text, tuple(accepted)) if new_text != text else None


def draw_edits(candidates: Sequence[Edit], words: int, rng: Random, every: int = 10) -> list[Edit]:
    """Draw one candidate for `every` words of the text, at least one where there are any, without replacement."""
    return sorted(rng.sample(candidates, min(len(candidates), max(1, words // every))))


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


class SourceWord(NamedTuple):
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
def words(text: str) -> tuple[SourceWord, ...]:
    """Return the words outside of protected spans, in order.

    Words beside a combining or invisible character are left out.
    """
    spans, text_words = protected_spans(text), list[SourceWord]()
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
        text_words.append(SourceWord(word, start, end, begins, may_be_name))
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


def replace_in_case(word: SourceWord, new: str) -> Edit:
    """Return the edit that puts `new`, with the casing of a word, in its place."""
    return Edit(word.start, word.end, match_case(word.text, new))


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


Axis = Literal["fairness", "robustness"]
Texts = Mapping[str, str]
EditRule = Callable[[str, Random], Iterable[Edit]]
"""Returns the edits of one text."""
MAX_LENGTH = 100_000
"""Code points of a text; longer texts are left alone."""


class Transformation(Protocol):
    """A named way to change the texts of a row without changing what they mean.

    `name` is stored with the copies that it makes, so it never changes.
    """

    @property
    def name(self) -> str:
        """The name in configs, commands and stored rows."""
        ...

    @property
    def title(self) -> str:
        """The name on pages."""
        ...

    @property
    def axis(self) -> Axis:
        """The property of models that it tests."""
        ...

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, EditedText] | None:
        """Return the texts of one row that change, by field; None where nothing changes, or nothing safely can.

        `locked` has spans by field that robustness leaves alone; all random choices come from `rng`.
        """
        ...


@dataclass(frozen=True)
class PerText:
    """A transformation of robustness that changes each text on its own, by a `rule`."""

    name: str
    title: str
    rule: EditRule
    axis: Axis = "robustness"

    def apply(
        self, texts: Texts, rng: Random, locked: Mapping[str, Sequence[Span]] | None = None
    ) -> dict[str, EditedText] | None:
        """See `Transformation.apply`."""
        edited_texts = {
            field: edited
            for field, text in texts.items()
            if len(text) <= MAX_LENGTH
            if (edited := apply_edits(text, self.rule(text, rng), (locked or {}).get(field, ())))
        }
        return edited_texts or None


def per_word(change: Callable[[SourceWord, Random], str | None], every: int = 10) -> EditRule:
    """Return a rule that changes one word in `every`, at least one.

    `change` returns the new word, or None to leave it.
    """

    def rule(text: str, rng: Random) -> list[Edit]:
        text_words = words(text)
        order = rng.sample(text_words, len(text_words))
        limit, edits = max(1, len(text_words) // every), list[Edit]()
        for word in order:
            new = change(word, rng)
            if new is not None and new != word.text:
                edits.append(Edit(word.start, word.end, new))
                if len(edits) == limit:
                    break
        return edits

    return rule


def per_match(candidates: Callable[[str, Sequence[SourceWord]], Iterable[Edit]], every: int = 10) -> EditRule:
    """Return a rule that makes one of all candidate edits for `every` words, at least one."""

    def rule(text: str, rng: Random) -> list[Edit]:
        text_words = words(text)
        return draw_edits(list(candidates(text, text_words)), len(text_words), rng, every)

    return rule


def generator(seed: int, uid: str, name: str) -> Random:
    """Return the random generator of a seed, a row and a transformation, the same in whatever order rows come."""
    return Random(f"{seed}:{adler32(uid.encode('utf-8', 'surrogatepass'))}:{uid}:{name}")
