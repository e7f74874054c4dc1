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
from dynabench.adversaries.synthetic_answers import AUXILIARIES, Chosen, Token
from dynabench.adversaries.synthetic_clauses import AT_TIME, RELATIVE, Clause, bracketless, clause_of, segment
from dynabench.errors import Unavailable

Form = Literal["subject", "inverted", "cloze"]
BE = frozenset("is are was were".split())
HAVE = frozenset("has have had".split())
AT_PLACE = frozenset("in at near".split())
NO_LEADER = frozenset("between among as including such than like".split())
PEOPLE = frozenset("president king queen captain general emperor pope sir lord lady saint bishop governor".split())
DEEDS = frozenset(
    "said wrote married argued believed invented died born tried met moved studied graduated lived".split()
)
POSSESSIVE = frozenset("its his her their our my your".split())
PEOPLES = ("ese", "ish", "ian", "ean", "can")
UNNAMED = frozenset("it he she they we i this these those".split())
WORDS = 30
"""Words of a question at most, of a cloze `CLOZE`."""
CLOZE = 24
ARTICLES = frozenset(("the", "a", "an"))


@dataclass(frozen=True)
class Question:
    """A question and how it was made of the sentence."""

    text: str
    form: Form


def question(passage: str, chosen: Chosen, cloze: bool = True) -> Question | None:
    """The question that the answer answers; None where the sentence points elsewhere, or nothing well-formed comes."""
    answer = tuple(chosen.sentence[chosen.first : chosen.last])
    clause = clause_of(chosen.sentence, answer)
    made = None
    if clause is not None:
        if set(answer) <= set(clause.subject):
            made = _of_subject(passage, clause, answer, chosen)
        elif not set(answer) & set(clause.subject):
            made = _inverted(passage, clause, answer, chosen)
    if clause is not None and any(token.low in UNNAMED for token in (*clause.rest, *clause.lead)):
        made = None
    found = Question(made, "subject" if clause and answer[0] in clause.subject else "inverted") if made else None
    if found is None and cloze:
        found = _cloze(passage, chosen, answer)
    if found is None or given_away(found.text, passage[chosen.start : chosen.end]):
        return None
    return found


def given_away(asked: str, answer: str) -> bool:
    """Whether the answer stands in the question."""
    return re.search(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", asked.lower()) is not None


def _of_subject(passage: str, clause: Clause, answer: Sequence[Token], chosen: Chosen) -> str | None:
    """The answer is the subject, with its article, or the number at its beginning."""
    subject = [token for token in clause.subject if token.low not in ARTICLES]
    named = [token for token in answer if token.low not in ARTICLES]
    if chosen.kind == "count" and subject[: len(named)] == named:
        asked = "How many " + _said(passage, subject[len(named) :])
    elif subject == named and chosen.kind in ("name", "phrase"):
        asked = "Who" if _person(named, [clause.verb, *clause.rest]) else "What"
    else:
        return None
    return _finished(asked, _said(passage, [clause.verb, *clause.rest]), _lowered(passage, clause.lead))


def _inverted(passage: str, clause: Clause, answer: Sequence[Token], chosen: Chosen) -> str | None:
    rest, lead = _simple(clause.rest, answer), list(clause.lead)
    if not set(answer) <= {*rest, *lead} or _deep(rest, answer):
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
    order = _order(clause)
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


def _deep(rest: Sequence[Token], answer: Sequence[Token]) -> bool:
    """Whether the answer is part of another clause behind the verb, or of a part of a part."""
    before = rest[: rest.index(answer[0])] if answer[0] in rest else []
    clauses = any(token.tag in ("SCONJ", "PRON") and token.low not in POSSESSIVE for token in before)
    return clauses or any(token.low == "when" for token in rest) or sum(token.low == "of" for token in before) > 1


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


def _order(clause: Clause) -> tuple[str, str] | None:
    """The auxiliary that comes before the subject, and the verb that comes behind it where the rest has none."""
    verb = clause.verb.low
    follows = next((token for token in clause.rest if token.tag != "ADV" and token.low != "not"), None)
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
    if base == verb:
        last = clause.subject[-1].text
        several = (last.endswith("s") and not last.istitle()) or any(token.tag == "CCONJ" for token in clause.subject)
        return ("do" if several or "VBD" not in forms else "did"), base
    return ("does" if "VBZ" in forms else "did"), base


def _cloze(passage: str, chosen: Chosen, answer: Sequence[Token]) -> Question | None:
    tokens = segment(bracketless(chosen.sentence), answer)
    if not any(token.finite for token in tokens[1:]) or len(tokens) > CLOZE or tokens[0] != chosen.sentence[0]:
        return None
    if (
        tokens[0].tag in ("SCONJ", "CCONJ", "VERB")
        or tokens[0].low in POSSESSIVE
        or "(" in [token.text for token in tokens]
    ):
        return None
    at, last = tokens.index(answer[0]), tokens.index(answer[0]) + len(answer)
    beside = [tokens[place] for place in (at - 1, last) if 0 <= place < len(tokens)]
    if any(token.tag == "CCONJ" for token in beside) or any(token.low in UNNAMED for token in tokens):
        return None
    if chosen.kind in ("name", "phrase") and beside and beside[0].text == ",":
        return None
    word = {"date": "when", "money": "how much", "percent": "what percentage", "count": "how many"}.get(chosen.kind)
    word = word or ("who" if chosen.kind == "name" and _person(answer, tokens[last:]) else "what")
    if chosen.kind == "date" and at and tokens[at - 1].low in AT_TIME:
        word = "what year" if len(answer) == 1 else "what month" if len(answer) == 2 else "what date"
    if at and word in ("what", "who") and tokens[at - 1].low in ARTICLES:
        at -= 1
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
    return text[0].lower() + text[1:] if tokens and _common(passage, tokens[0]) else text


def _common(passage: str, token: Token) -> bool:
    """Whether a word has its capital from the sentence that it begins alone."""
    if not token.text.istitle() or token.tag == "PROPN":
        return False
    if token.tag in ("DET", "ADP", "ADV", "SCONJ"):
        return True
    try:
        known = token.tag in ("NOUN", "ADJ") and bool(grammar.forms(token.text, token.tag))
    except Unavailable:
        known = False
    return (known and not token.low.endswith(PEOPLES)) or re.search(rf"\b{re.escape(token.low)}\b", passage) is not None


def _finished(*parts: str) -> str | None:
    text = re.sub(r"\s+([,.])", r"\1", " ".join(part.strip() for part in parts if part.strip())).strip(" ,.;:")
    if not 3 <= len(text.split()) <= WORDS or not text[0].isalnum():
        return None
    return text[0].upper() + text[1:] + "?"
