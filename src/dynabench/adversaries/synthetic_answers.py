"""Possible answers in a passage: dates, quantities, names and noun phrases, each an exact span of a sentence.

Names and phrases are found by the tagger of the extra `adversaries`; without it dates, quantities and runs of capitals
remain.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from dynabench.adversaries import english_words
from dynabench.kit.errors import Unavailable

Kind = Literal["date", "money", "percent", "count", "name", "phrase"]
KINDS: tuple[Kind, ...] = ("date", "money", "percent", "count", "name", "phrase")
MAX_SENTENCE = 60
"""Tokens of a sentence at most."""
MAX_SPAN = 6
"""Tokens of a name or phrase at most."""
MONTHS = frozenset("January February March April May June July August September October November December".split())
WHEN = frozenset("in since by until from during before after around circa early late mid".split())
LINKS = frozenset("of de van von der la le du di da al".split())
AUXILIARIES = frozenset(
    "is are was were has have had do does did can could will would shall should may might must".split()
)
_CLOSED = {
    "DET": frozenset("the a an this that these those every each no some any".split()),
    "ADP": frozenset("in on at of to from by with for near since until during between into over under as".split()),
    "PRON": frozenset("i he she it they we you who which what his her its their our your him them".split()),
    "CCONJ": frozenset("and or but nor".split()),
    "SCONJ": frozenset("because although while if when where though unless".split()),
}
_SENTENCE = re.compile(r"(?<=[.!?])[\"”’')\]]*\s+(?=[\"“‘'(]?[^\W_])|\n+")
_SHORT = re.compile(r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Gen|Col|No|vs|ca|e\.g|i\.e|[A-Z])\.|\.\.)$")
_TOKEN = re.compile(
    r"\d[\d.,]*\d|\d|(?:[A-Za-z]\.){2,}|[A-Z]\.(?=\s+[A-Z])|['’]s\b|[^\W\d_][^\W_]*(?:[-'’](?!s\b)[^\W_]+)*|\S"
)
_NUMBER = re.compile(r"\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty")
_ATTACHED = frozenset(
    "- / 's ’s most more very this these those that another some any each no his her its their".split()
)
_EMPTY = frozenset(
    "winter summer spring autumn period time times year years day days way ways number part parts case cases decade "
    "century generation end rest "
    "beginning example addition fact first second latter former same other others".split()
)
"""Nouns that say too little to be asked for."""
_LARGE = frozenset("hundred thousand million billion trillion".split())
YEAR = re.compile(r"1[0-9]{3}|20[0-9]{2}")


@dataclass(frozen=True, slots=True)
class ParsedToken:
    """A word or sign of the passage; `tag` is the universal part of speech, `finite` says it of a verb."""

    text: str
    start: int
    end: int
    tag: str
    finite: bool = False

    @property
    def low(self) -> str:
        """Return the text in lower case."""
        return self.text.lower()


@dataclass(frozen=True)
class PassageAnswer:
    """An answer: tokens `first` to `last` (exclusive) of its sentence, and its kind."""

    sentence: Sequence[ParsedToken]
    first: int
    last: int
    kind: Kind

    @property
    def start(self) -> int:
        """Return the place in the passage where the answer begins, in characters."""
        return self.sentence[self.first].start

    @property
    def end(self) -> int:
        """Return the place in the passage where the answer ends."""
        return self.sentence[self.last - 1].end

    def span(self, passage: str) -> dict[str, str | int]:
        """Return the span as tasks write it."""
        return {"start": self.start, "end": self.end, "text": passage[self.start : self.end]}


def find_answers(passage: str) -> Iterator[PassageAnswer]:
    """Yield all possible answers in the order of the passage; spans of one sentence do not overlap."""
    for sentence in split_sentences(passage):
        used: set[int] = set()
        answers = list[PassageAnswer]()
        for kind, first, last in (
            *_find_dates(sentence),
            *_find_quantities(sentence),
            *_find_names(sentence),
            *_find_phrases(sentence),
        ):
            places = set(range(first, last))
            if not places & used:
                used |= places
                answers.append(PassageAnswer(sentence, first, last, kind))
        yield from sorted(answers, key=lambda answer: answer.first)


def split_sentences(passage: str) -> Iterator[list[ParsedToken]]:
    """Yield the sentences of a passage as tokens; those longer than `MAX_SENTENCE` are left out."""
    begin = 0
    for cut in [*(matches for matches in _SENTENCE.finditer(passage)), None]:
        end = cut.start() if cut else len(passage)
        if cut and "\n" not in cut[0] and _SHORT.search(passage[max(begin, end - 8) : end]):
            continue
        matches = list(_TOKEN.finditer(passage, begin, end))
        begin = cut.end() if cut else end
        if 3 < len(matches) <= MAX_SENTENCE:
            yield _tag_tokens(matches)


def _tag_tokens(matches: Sequence[re.Match[str]]) -> list[ParsedToken]:
    texts = tuple(match[0] for match in matches)
    try:
        labels = english_words.tag_words(texts)
    except Unavailable:
        labels = [_guess_tag(text, number) for number, text in enumerate(texts)]
    tokens = list[ParsedToken]()
    for match, label in zip(matches, labels, strict=True):
        tag, _, form = label.partition("|")
        tag = "PUNCT" if not any(map(str.isalnum, match[0])) else "NUM" if match[0][0].isdigit() else tag
        tokens.append(ParsedToken(match[0], match.start(), match.end(), tag, form == "Fin" and tag in ("VERB", "AUX")))
    return tokens


def _guess_tag(text: str, number: int) -> str:
    """A tag without a tagger: closed classes, auxiliaries, and capitals that no sentence's begin explains."""
    if text.lower() in AUXILIARIES:
        return "AUX|Fin"
    closed = next((tag for tag, words in _CLOSED.items() if text.lower() in words), "")
    return closed or ("PROPN" if number and text[0].isupper() else "X")


def _find_dates(tokens: Sequence[ParsedToken]) -> Iterator[tuple[Kind, int, int]]:
    for at, token in enumerate(tokens):
        if not YEAR.fullmatch(token.text):
            continue
        first = at
        while first and (tokens[first - 1].text in MONTHS or _is_part_of_date(tokens, first - 1)):
            first -= 1
        if first < at or (at and tokens[at - 1].low in WHEN):
            after = tokens[at + 1].tag if at + 1 < len(tokens) else ""
            if first < at or after not in ("NOUN", "PROPN", "ADJ"):
                yield "date", first, at + 1


def _is_part_of_date(tokens: Sequence[ParsedToken], at: int) -> bool:
    """The token is a day beside a month, or the comma behind it."""
    beside = [tokens[place].text for place in (at - 1, at + 1) if 0 <= place < len(tokens)]
    if tokens[at].text == ",":
        return at >= 2 and tokens[at - 2].text in MONTHS
    return tokens[at].text.isdigit() and len(tokens[at].text) <= 2 and bool(MONTHS & set(beside))


def _find_quantities(tokens: Sequence[ParsedToken]) -> Iterator[tuple[Kind, int, int]]:
    for at, token in enumerate(tokens):
        if (
            not _NUMBER.fullmatch(token.low)
            or YEAR.fullmatch(token.text)
            or (at and tokens[at - 1].text in ("-", "–", "/"))
        ):
            continue
        last = at + 1
        while last < len(tokens) and tokens[last].low in _LARGE:
            last += 1
        after = tokens[last] if last < len(tokens) else None
        if at and tokens[at - 1].text in "$£€":
            yield "money", at - 1, last
        elif after is not None and after.low in ("%", "percent"):
            yield "percent", at, last + 1
        elif after is not None and after.tag in ("NOUN", "ADJ") and after.text.isalpha() and after.text.islower():
            yield "count", at, last


def _find_names(tokens: Sequence[ParsedToken]) -> Iterator[tuple[Kind, int, int]]:
    at = 0
    while at < len(tokens):
        if not _is_capitalised_name(tokens, at):
            at += 1
            continue
        last = at + 1
        while last < len(tokens):
            if _is_capitalised_name(tokens, last):
                last += 1
            elif tokens[last].low in LINKS and last + 1 < len(tokens) and _is_capitalised_name(tokens, last + 1):
                last += 2
            else:
                break
        if (
            last - at <= MAX_SPAN
            and not _is_part_of_more(tokens, at, last)
            and {"PROPN", "NOUN"} & {t.tag for t in tokens[at:last]}
        ):
            yield "name", at, last
        at = last


def _is_capitalised_name(tokens: Sequence[ParsedToken], at: int) -> bool:
    token = tokens[at]
    named = token.text[0].isupper() and token.text not in MONTHS and token.tag not in ("DET", "PRON", "ADP", "AUX")
    return named and (at > 0 or token.tag == "PROPN")


def _find_phrases(tokens: Sequence[ParsedToken]) -> Iterator[tuple[Kind, int, int]]:
    at = 0
    while at < len(tokens):
        last = at
        while last < len(tokens) and tokens[last].tag in ("ADJ", "NOUN") and tokens[last].text[0].islower():
            last += 1
        while last > at and tokens[last - 1].tag != "NOUN":
            last -= 1
        first = at - 1 if at and tokens[at - 1].low in ("the", "a", "an") else at
        empty = last > at and tokens[last - 1].low in _EMPTY
        if (
            last > at
            and not empty
            and last - at > (first == at)
            and last - first <= MAX_SPAN
            and not _is_part_of_more(tokens, first, last)
        ):
            yield "phrase", first, last
        at = max(last, at + 1)


def _is_part_of_more(tokens: Sequence[ParsedToken], first: int, last: int) -> bool:
    """Words around the span belong to it: an owner's s, a hyphen, *of*, another noun, a number before."""
    before = tokens[first - 1] if first else None
    after = tokens[last] if last < len(tokens) else None
    if before is not None and (before.tag in ("NUM", "ADJ", "NOUN", "PROPN") or before.low in _ATTACHED):
        return True
    if before is not None and before.tag == "ADV" and tokens[first].tag == "ADJ":
        return True
    titled = (
        first > 1
        and before is not None
        and before.low in ("of", "for", "on")
        and _is_capitalised_name(tokens, first - 2)
    )
    if titled and tokens[first].text[0].isupper():
        return True
    if first > 1 and before is not None and before.tag == "CCONJ" and tokens[first - 2].tag == "ADJ":
        return True
    if after is None:
        return False
    participle = after.tag == "VERB" and not after.finite and any(token.finite for token in tokens)
    if participle and tokens[first].text[0].islower():
        return True
    return after.low in ("of", "'s", "’s", "-", "/", "who", "that", "which") or after.tag in ("NOUN", "PROPN", "NUM")
