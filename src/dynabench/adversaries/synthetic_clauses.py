"""The clause of a sentence that an answer stands in: a plain subject, its finite verb, and the rest."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from dynabench.adversaries.search import grammar
from dynabench.adversaries.synthetic_answers import YEAR, Token
from dynabench.errors import Unavailable

POINTING = frozenset(
    "this these those that such it he she they we i you his her its their here there one when if".split()
)
CUTS = frozenset("while although though but because whereas when".split())
RELATIVE = frozenset("which who whom whose where that".split())
AT_TIME = frozenset("in on at during".split())
QUOTES = "\"“”'‘’.!?"
_MARKS = frozenset(',;:()[]{}"“”—–')


@dataclass(frozen=True)
class Clause:
    """The clause around an answer: tokens `subject`, `verb`, `rest`, and what led it in, which now comes last."""

    subject: Sequence[Token]
    verb: Token
    rest: Sequence[Token]
    lead: Sequence[Token]


def clause_of(sentence: Sequence[Token], answer: Sequence[Token]) -> Clause | None:
    """The clause around an answer; None where it is not plain enough to be turned into a question."""
    part = segment(bracketless(sentence), answer)
    if not set(answer) <= set(part):
        return None
    lead, part = _led(part, answer)
    known = any(token.finite for token in sentence)
    at = next((n for n, token in enumerate(part) if token.finite or (not known and _past(token))), None)
    if not at:
        return None
    subject = list(part[:at])
    while subject and subject[-1].tag == "ADV":
        subject.pop()
    rest = _cut(part[at + 1 :], answer)
    if not rest and part[at + 1 :]:
        return None
    if not (_plain(subject) and set(answer) <= {*subject, *rest, *lead}):
        return None
    return Clause(subject, part[at], rest, lead)


def _past(token: Token) -> bool:
    """Whether a verb can be in the past tense, which taggers take for a participle at times."""
    try:
        return token.tag == "VERB" and "VBD" in grammar.forms(token.text, "VERB")
    except Unavailable:
        return False


def bracketless(sentence: Sequence[Token]) -> list[Token]:
    """A sentence without what stands in brackets."""
    kept, depth = list[Token](), 0
    for token in sentence:
        depth += token.text in "([" and token.tag == "PUNCT"
        if not depth:
            kept.append(token)
        depth -= token.text in ")]" and token.tag == "PUNCT" and depth > 0
    return kept


def segment(tokens: Sequence[Token], answer: Sequence[Token]) -> list[Token]:
    """What stands between semicolons, colons and dashes around the answer, without quotation marks and a full stop."""
    parts: list[list[Token]] = [[]]
    for before, token in pairwise([None, *tokens]):
        apart = before is not None and token is not None and before.end < token.start
        owned = before is not None and not apart and before.low.endswith("s")
        if token is None or (token.text in QUOTES and not (owned and token.text in "'’")):
            continue
        if token.text in ";:—" or (token.text in "–-" and apart):
            parts.append([])
        else:
            parts[-1].append(token)
    return next((part for part in parts if set(answer) <= set(part)), [])


def _led(part: list[Token], answer: Sequence[Token]) -> tuple[list[Token], list[Token]]:
    """What leads a clause in up to its first comma, and the clause: a phrase that begins with a preposition, or an
    adverb, which is left out."""
    if (
        len(part) > 3
        and part[0].low in AT_TIME
        and YEAR.fullmatch(part[1].text)
        and part[2].tag not in ("NOUN", "CCONJ")
    ):
        return part[:2], part[3:] if part[2].text == "," else part[2:]
    comma = next((number for number, token in enumerate(part) if token.text == ","), 0)
    before = part[:comma]
    if not before or any(token.tag in ("VERB", "AUX") for token in before):
        return [], part
    if before[0].tag == "ADP" and (not set(answer) & set(before) or tuple(before[1:]) == tuple(answer)):
        return before, part[comma + 1 :]
    if all(token.tag == "ADV" for token in before):
        return [], part[comma + 1 :]
    return [], part


def _cut(rest: Sequence[Token], answer: Sequence[Token]) -> list[Token]:
    """The words behind the verb up to the next clause that does not have the answer; none where that one has it."""
    kept = list[Token]()
    for number, token in enumerate(rest):
        follows = rest[number + 1] if number + 1 < len(rest) else None
        another = any(one.finite for one in rest[number + 1 :])
        ends = (
            token.low in CUTS
            or (token.text == "," and follows is not None and (follows.low in CUTS | RELATIVE or follows.tag == "VERB"))
            or (token.tag == "CCONJ" and another)
            or (token.text == "," and another)
        )
        if ends:
            break
        if token.finite and not any(one.tag in ("SCONJ", "PRON", "CCONJ") for one in kept):
            return []
        kept.append(token)
    hanging = [number for number, token in enumerate(kept) if token.low in RELATIVE]
    return [] if hanging and not any(token.finite for token in kept[hanging[-1] :]) else kept


def _plain(subject: Sequence[Token]) -> bool:
    """Whether these words are a subject that says what it means without the sentences before."""
    if not subject or len(subject) > 12 or subject[0].low in POINTING or subject[0].tag in ("PRON", "SCONJ", "CCONJ"):
        return False
    if any(token.text in _MARKS or token.tag in ("VERB", "AUX", "PRON", "SCONJ") for token in subject):
        return False
    return subject[0].tag != "ADP" and any(token.tag in ("NOUN", "PROPN", "NUM", "ADJ", "X") for token in subject)
