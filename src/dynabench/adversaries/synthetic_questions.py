"""From a sentence and an answer in it to a question, by rules.

A clause with one finite verb behind a plain subject becomes a question in the usual order of words: the answer goes,
its question word comes first, the auxiliary before the subject. Other sentences keep their order, with the question
word in the answer's place (a cloze).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from dynabench.adversaries.perturbations import given
from dynabench.adversaries.search import grammar
from dynabench.adversaries.synthetic_answers import AUXILIARIES, YEAR, Chosen, Token
from dynabench.errors import Unavailable

Form = Literal["subject", "inverted", "cloze"]
BE = frozenset("is are was were".split())
HAVE = frozenset("has have had".split())
POINTING = frozenset("this these those that such it he she they we i you his her its their here there one".split())
CUTS = frozenset("while although though but because whereas when".split())
RELATIVE = frozenset("which who whom whose where that".split())
AT_TIME = frozenset("in on at during".split())
AT_PLACE = frozenset("in at near".split())
NO_LEADER = frozenset("between among as including such than like".split())
PEOPLE = frozenset("president king queen captain general emperor pope sir lord lady saint bishop governor".split())
DEEDS = frozenset(
    "said wrote married argued believed invented died born tried met moved studied graduated lived".split()
)
UNNAMED = frozenset("it he she they we i this these those".split())
WORDS = 30
"""Words of a question at most, of a cloze `CLOZE`."""
CLOZE = 24
_MARKS = frozenset(',;:()[]{}"“”—–')


@dataclass(frozen=True)
class Question:
    """A question and how it was made of the sentence."""

    text: str
    form: Form


@dataclass(frozen=True)
class _Clause:
    """The clause around an answer: tokens `subject`, `verb`, `rest`, and what led it in, which now comes last."""

    subject: Sequence[Token]
    verb: Token
    rest: Sequence[Token]
    lead: Sequence[Token]


def question(passage: str, chosen: Chosen, cloze: bool = True) -> Question | None:
    """The question that the answer answers; None where the sentence points elsewhere, or nothing well-formed comes."""
    answer = tuple(chosen.sentence[chosen.first : chosen.last])
    clause = _clause(chosen.sentence, answer)
    made = None
    if clause is not None:
        if set(answer) <= set(clause.subject):
            made = _of_subject(passage, clause, answer, chosen)
        elif not set(answer) & set(clause.subject):
            made = _inverted(passage, clause, answer, chosen)
    found = Question(made, "subject" if clause and answer[0] in clause.subject else "inverted") if made else None
    if found is None and cloze:
        found = _cloze(passage, chosen, answer)
    if found is None or given_away(found.text, passage[chosen.start : chosen.end]):
        return None
    return found


def given_away(asked: str, answer: str) -> bool:
    """Whether the answer stands in the question."""
    return re.search(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", asked.lower()) is not None


def _clause(sentence: Sequence[Token], answer: Sequence[Token]) -> _Clause | None:
    part = _segment(_bracketless(sentence), answer)
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
    if not (_plain(subject) and set(answer) <= {*subject, *rest, *lead}):
        return None
    return _Clause(subject, part[at], rest, lead)


def _past(token: Token) -> bool:
    """Whether a verb can be in the past tense, which taggers take for a participle at times."""
    try:
        return token.tag == "VERB" and "VBD" in grammar.forms(token.text, "VERB")
    except Unavailable:
        return False


def _bracketless(sentence: Sequence[Token]) -> list[Token]:
    kept, depth = list[Token](), 0
    for token in sentence:
        depth += token.text in "([" and token.tag == "PUNCT"
        if not depth:
            kept.append(token)
        depth -= token.text in ")]" and token.tag == "PUNCT" and depth > 0
    return kept


def _segment(tokens: Sequence[Token], answer: Sequence[Token]) -> list[Token]:
    """What stands between semicolons, colons and dashes around the answer, without quotation marks and a full stop."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.text in ";:—–":
            parts.append([])
        elif token.text not in '"“”.!?':
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
            or (
                token.text == ","
                and follows is not None
                and (follows.low in CUTS | RELATIVE or follows.tag in ("CCONJ", "VERB"))
            )
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


def _of_subject(passage: str, clause: _Clause, answer: Sequence[Token], chosen: Chosen) -> str | None:
    """The answer is the subject, with its article, or the number at its beginning."""
    subject = [token for token in clause.subject if token.low not in ("the", "a", "an")]
    named = [token for token in answer if token.low not in ("the", "a", "an")]
    if chosen.kind == "count" and subject[: len(named)] == named:
        asked = "How many " + _said(passage, subject[len(named) :])
    elif subject == named and chosen.kind in ("name", "phrase"):
        asked = "Who" if _person(named, [clause.verb, *clause.rest]) else "What"
    else:
        return None
    return _finished(asked, _said(passage, [clause.verb, *clause.rest]), _lowered(passage, clause.lead))


def _inverted(passage: str, clause: _Clause, answer: Sequence[Token], chosen: Chosen) -> str | None:
    rest, lead = _simple(clause.rest, answer), list(clause.lead)
    if not set(answer) <= {*rest, *lead}:
        return None
    among = lead if answer[0] in lead else rest
    at = among.index(answer[0])
    last = at + len(answer)
    leader = among[at - 1] if at and among[at - 1].tag == "ADP" else None
    if leader is None and at and among[at - 1].low == "the" and at > 1 and among[at - 2].tag == "ADP":
        leader, at = among[at - 2], at - 1
    elif leader is None and at and among[at - 1].low == "the":
        at -= 1
    if _listed(among, at, last) or (leader is not None and leader.low in NO_LEADER):
        return None
    asked, drops, last = _asked(passage, chosen, answer, leader, among, last)
    if not asked:
        return None
    del among[at - drops : last]
    order = _order(clause, rest)
    if order is None:
        return None
    auxiliary, verb = order
    subject = _lowered(passage, clause.subject)
    return _finished(asked, auxiliary, subject, verb, _said(passage, rest), _lowered(passage, lead))


def _simple(rest: Sequence[Token], answer: Sequence[Token]) -> list[Token]:
    """The words behind the verb without a second verb's; only those before it where the answer is one of its words."""
    for number, token in enumerate(rest):
        behind = rest[number + 1] if number + 1 < len(rest) else None
        second = token.tag == "CCONJ" and behind is not None and behind.tag in ("VERB", "AUX")
        if second or (token.low in RELATIVE and not set(answer) <= set(rest[:number])):
            return list(rest[:number])
    return list(rest)


def _listed(tokens: Sequence[Token], first: int, last: int) -> bool:
    """Whether a span is one of several things that are listed."""
    around = [tokens[place] for place in (first - 1, last) if 0 <= place < len(tokens)]
    return any(token.tag == "CCONJ" or token.text in ",/&" for token in around)


def _asked(
    passage: str, chosen: Chosen, answer: Sequence[Token], leader: Token | None, among: Sequence[Token], last: int
) -> tuple[str, int, int]:
    """The question's words, how many tokens before the answer they stand for, and up to which token."""
    low = leader.low if leader else ""
    match chosen.kind:
        case "date":
            return ("When", 1, last) if low in AT_TIME else (f"{low.title()} when", 1, last) if low else ("", 0, last)
        case "count":
            end = last
            while end < len(among) and among[end].tag in ("ADJ", "NOUN"):
                end += 1
            if low or among[end - 1].tag != "NOUN":
                return "", 0, last
            return f"How many {_said(passage, among[last:end])}", 0, end
        case "percent":
            end = last
            while end < len(among) and among[end].tag in (("ADP",) if end == last else ("DET", "ADJ", "NOUN", "PROPN")):
                end += 1
            of = among[last:end] if end > last + 1 and among[last].low == "of" else []
            return (f"What percentage {_said(passage, of)}", 0, last + len(of)) if not low else ("", 0, last)
        case "money":
            return "How much", 0, last
        case "name" if low in AT_PLACE and not _person(answer):
            return ("", 0, last) if answer[0].text.isupper() else ("Where", 1, last)
    return ("Who" if chosen.kind == "name" and _person(answer) else "What"), 0, last


def _order(clause: _Clause, rest: Sequence[Token]) -> tuple[str, str] | None:
    """The auxiliary that comes before the subject, and the verb that comes behind it where the rest has none."""
    verb = clause.verb.low
    follows = next((token for token in rest if token.tag not in ("ADV", "PART")), None)
    perfect = follows is not None and follows.tag in ("VERB", "AUX")
    if verb in BE or (verb in AUXILIARIES and (verb not in HAVE or perfect)):
        return verb, ""
    try:
        base = grammar.lemma(clause.verb.text, "VERB")
        forms = grammar.forms(clause.verb.text, "VERB")
    except Unavailable:
        return None
    if not forms and base == verb:
        return None
    past = "VBD" in forms and "VB" not in forms
    return ("did" if past else "does" if "VBZ" in forms else "do"), base


def _cloze(passage: str, chosen: Chosen, answer: Sequence[Token]) -> Question | None:
    tokens = _segment(_bracketless(chosen.sentence), answer)
    if not any(token.finite for token in tokens[1:]) or len(tokens) > CLOZE:
        return None
    if tokens[0].tag in ("SCONJ", "CCONJ", "VERB") or "(" in [token.text for token in tokens]:
        return None
    at, last = tokens.index(answer[0]), tokens.index(answer[0]) + len(answer)
    beside = [tokens[place] for place in (at - 1, last) if 0 <= place < len(tokens)]
    if any(token.tag == "CCONJ" for token in beside) or any(token.low in UNNAMED for token in tokens):
        return None
    word = {"date": "when", "money": "how much", "percent": "what percentage", "count": "how many"}.get(chosen.kind)
    word = word or ("who" if chosen.kind == "name" and _person(answer, tokens[last:]) else "what")
    if chosen.kind == "date" and at and tokens[at - 1].low in AT_TIME:
        word = "what year" if len(answer) == 1 else "what month" if len(answer) == 2 else "what date"
    asked = _finished(_said(passage, tokens[:at]), word, _said(passage, tokens[last:]))
    return Question(asked, "cloze") if asked else None


def _person(tokens: Sequence[Token], behind: Sequence[Token] = ()) -> bool:
    """Whether a name is a person's, by a given name, a title, or what it does in the words behind."""
    known = given.gender()
    titled = tokens[0].low.rstrip(".") in given.TITLES | PEOPLE
    named = len(tokens) < 4 and (tokens[0].text in known or tokens[0].low in known)
    return titled or (tokens[0].tag == "PROPN" and (named or any(token.low in DEEDS for token in behind[:2])))


def _said(passage: str, tokens: Sequence[Token]) -> str:
    """Tokens as a text, with blanks as they stand in the passage."""
    made = ""
    for before, token in zip([None, *tokens], tokens, strict=False):
        close = before is not None and before.end == token.start
        made += token.text if close or not made or token.text in ",.%" else f" {token.text}"
    return made.strip()


def _lowered(passage: str, tokens: Sequence[Token]) -> str:
    """Tokens as a text that no longer begins a sentence."""
    text = _said(passage, tokens)
    plain = bool(tokens) and tokens[0].tag != "PROPN" and tokens[0].text.istitle()
    return text[0].lower() + text[1:] if plain else text


def _finished(*parts: str) -> str | None:
    text = re.sub(r"\s+([,.])", r"\1", " ".join(part.strip() for part in parts if part.strip())).strip(" ,.;:")
    if not 3 <= len(text.split()) <= WORDS or not text[0].isalnum():
        return None
    return text[0].upper() + text[1:] + "?"
