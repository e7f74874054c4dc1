"""Questions made from a sentence and an answer in it, by rules.

A clause with one finite verb behind a plain subject becomes a question in the usual order of words: the answer goes,
its question word comes first, the auxiliary before the subject. Other sentences keep their order, with the question
word in the answer's place (a cloze).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from dynabench.adversaries import english_words
from dynabench.adversaries.perturbations import person_names
from dynabench.adversaries.synthetic_answers import AUXILIARIES, YEAR, ParsedToken, PassageAnswer
from dynabench.kit.errors import Unavailable

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

    subject: Sequence[ParsedToken]
    verb: ParsedToken
    rest: Sequence[ParsedToken]
    lead: Sequence[ParsedToken]


def find_clause(sentence: Sequence[ParsedToken], answer: Sequence[ParsedToken]) -> Clause | None:
    """Return the clause around an answer; None where it is not plain enough to become a question."""
    part = segment_around(remove_brackets(sentence), answer)
    if not set(answer) <= set(part):
        return None
    lead, part = _split_lead(part, answer)
    has_finite_verb = any(token.finite for token in sentence)
    at = next(
        (n for n, token in enumerate(part) if token.finite or (not has_finite_verb and _may_be_past_tense(token))), None
    )
    if not at:
        return None
    subject = list(part[:at])
    while subject and subject[-1].tag == "ADV":
        subject.pop()
    rest = _cut_next_clause(part[at + 1 :], answer)
    if not rest and part[at + 1 :]:
        return None
    if not (_is_plain_subject(subject) and set(answer) <= {*subject, *rest, *lead}):
        return None
    return Clause(subject, part[at], rest, lead)


def _may_be_past_tense(token: ParsedToken) -> bool:
    """The verb can be in the past tense; taggers take it for a participle at times."""
    try:
        return token.tag == "VERB" and "VBD" in english_words.penn_tags(token.text, "VERB")
    except Unavailable:
        return False


def remove_brackets(sentence: Sequence[ParsedToken]) -> list[ParsedToken]:
    """Return a sentence without its brackets and their content."""
    tokens, depth = list[ParsedToken](), 0
    for token in sentence:
        depth += token.text in "([" and token.tag == "PUNCT"
        if not depth:
            tokens.append(token)
        depth -= token.text in ")]" and token.tag == "PUNCT" and depth > 0
    return tokens


def segment_around(tokens: Sequence[ParsedToken], answer: Sequence[ParsedToken]) -> list[ParsedToken]:
    """Return the tokens around the answer between semicolons, colons and dashes, without quotes and full stop."""
    parts: list[list[ParsedToken]] = [[]]
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


def _split_lead(part: list[ParsedToken], answer: Sequence[ParsedToken]) -> tuple[list[ParsedToken], list[ParsedToken]]:
    """The lead up to the first comma, and the clause. The lead begins with a preposition; an adverb is left out."""
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


def _cut_next_clause(rest: Sequence[ParsedToken], answer: Sequence[ParsedToken]) -> list[ParsedToken]:
    """The words behind the verb up to the next clause that does not have the answer; none where that one has it."""
    tokens = list[ParsedToken]()
    for number, token in enumerate(rest):
        follows = rest[number + 1] if number + 1 < len(rest) else None
        another = any(later.finite for later in rest[number + 1 :])
        ends = (
            token.low in CUTS
            or (token.text == "," and follows is not None and (follows.low in CUTS | RELATIVE or follows.tag == "VERB"))
            or (token.tag == "CCONJ" and another)
            or (token.text == "," and another)
        )
        if ends:
            break
        if token.finite and not any(later.tag in ("SCONJ", "PRON", "CCONJ") for later in tokens):
            return []
        tokens.append(token)
    hanging = [number for number, token in enumerate(tokens) if token.low in RELATIVE]
    return [] if hanging and not any(token.finite for token in tokens[hanging[-1] :]) else tokens


def _is_plain_subject(subject: Sequence[ParsedToken]) -> bool:
    """The words are a subject that is understood without the sentences before."""
    if not subject or len(subject) > 12 or subject[0].low in POINTING or subject[0].tag in ("PRON", "SCONJ", "CCONJ"):
        return False
    if any(token.text in _MARKS or token.tag in ("VERB", "AUX", "PRON", "SCONJ") for token in subject):
        return False
    return subject[0].tag != "ADP" and any(token.tag in ("NOUN", "PROPN", "NUM", "ADJ", "X") for token in subject)


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
class SyntheticQuestion:
    """A question and its form."""

    text: str
    form: Form


def make_question(passage: str, chosen: PassageAnswer, cloze: bool = True) -> SyntheticQuestion | None:
    """Return the question of an answer; None where the sentence refers to others, or no good question results."""
    answer = tuple(chosen.sentence[chosen.first : chosen.last])
    clause = find_clause(chosen.sentence, answer)
    text = None
    if clause is not None:
        if set(answer) <= set(clause.subject):
            text = _ask_for_subject(passage, clause, answer, chosen)
        elif not set(answer) & set(clause.subject):
            text = _ask_inverted(passage, clause, answer, chosen)
    if clause is not None and any(token.low in UNNAMED for token in (*clause.rest, *clause.lead)):
        text = None
    question = (
        SyntheticQuestion(text, "subject" if clause and answer[0] in clause.subject else "inverted") if text else None
    )
    if question is None and cloze:
        question = _make_cloze(passage, chosen, answer)
    if question is None or contains_answer(question.text, passage[chosen.start : chosen.end]):
        return None
    return question


def contains_answer(question: str, answer: str) -> bool:
    """Return whether the question contains the answer."""
    return re.search(rf"(?<!\w){re.escape(answer.lower())}(?!\w)", question.lower()) is not None


def _ask_for_subject(passage: str, clause: Clause, answer: Sequence[ParsedToken], chosen: PassageAnswer) -> str | None:
    """The answer is the subject, with its article, or the number at its beginning."""
    subject = [token for token in clause.subject if token.low not in ARTICLES]
    named = [token for token in answer if token.low not in ARTICLES]
    if chosen.kind == "count" and subject[: len(named)] == named:
        opening = "How many " + _text_of(passage, subject[len(named) :])
    elif subject == named and chosen.kind in ("name", "phrase"):
        opening = "Who" if _is_person(named, [clause.verb, *clause.rest]) else "What"
    else:
        return None
    return _finish_question(
        opening, _text_of(passage, [clause.verb, *clause.rest]), _lower_case_text(passage, clause.lead)
    )


def _ask_inverted(passage: str, clause: Clause, answer: Sequence[ParsedToken], chosen: PassageAnswer) -> str | None:
    rest, lead = _words_of_first_verb(clause.rest, answer), list(clause.lead)
    if not set(answer) <= {*rest, *lead} or _is_nested(rest, answer):
        return None
    among = lead if answer[0] in lead else rest
    at = among.index(answer[0])
    last = at + len(answer)
    leader = among[at - 1] if at and among[at - 1].tag == "ADP" else None
    if leader is None and at and among[at - 1].low == "the" and at > 1 and among[at - 2].tag == "ADP":
        leader, at = among[at - 2], at - 1
    elif leader is None and at and among[at - 1].low == "the":
        at -= 1
    if _is_in_list(among, at, last) or (leader is not None and leader.low in NO_LEADER):
        return None
    opening, drops, last = _question_opening(passage, chosen, answer, leader, among, last)
    if not opening:
        return None
    del among[at - drops : last]
    order = _auxiliary_and_verb(clause)
    if order is None:
        return None
    auxiliary, verb = order
    subject = _lower_case_text(passage, clause.subject)
    return _finish_question(opening, auxiliary, subject, verb, _text_of(passage, rest), _lower_case_text(passage, lead))


def _words_of_first_verb(rest: Sequence[ParsedToken], answer: Sequence[ParsedToken]) -> list[ParsedToken]:
    """The words behind the verb without a second verb's; only those before it where the answer is one of its words."""
    for number, token in enumerate(rest):
        behind = rest[number + 1] if number + 1 < len(rest) else None
        second = token.tag == "CCONJ" and behind is not None and behind.tag in ("VERB", "AUX")
        if second or (token.low in RELATIVE and not set(answer) <= set(rest[:number])):
            return list(rest[:number])
    return list(rest)


def _is_nested(rest: Sequence[ParsedToken], answer: Sequence[ParsedToken]) -> bool:
    """The answer is part of another clause behind the verb, or of a part of a part."""
    before = rest[: rest.index(answer[0])] if answer[0] in rest else []
    clauses = any(token.tag in ("SCONJ", "PRON") and token.low not in POSSESSIVE for token in before)
    return clauses or any(token.low == "when" for token in rest) or sum(token.low == "of" for token in before) > 1


def _is_in_list(tokens: Sequence[ParsedToken], first: int, last: int) -> bool:
    """The span is one of several things in a list."""
    around = [tokens[place] for place in (first - 1, last) if 0 <= place < len(tokens)]
    return any(token.tag == "CCONJ" or token.text in ",/&" for token in around)


def _question_opening(
    passage: str,
    chosen: PassageAnswer,
    answer: Sequence[ParsedToken],
    leader: ParsedToken | None,
    among: Sequence[ParsedToken],
    last: int,
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
            return f"How many {_text_of(passage, among[last:end])}", 0, end
        case "percent":
            end = last
            while end < len(among) and among[end].tag in (("ADP",) if end == last else ("DET", "ADJ", "NOUN", "PROPN")):
                end += 1
            phrase = among[last:end] if end > last + 1 and among[last].low == "of" else []
            return (f"What percentage {_text_of(passage, phrase)}", 0, last + len(phrase)) if not low else ("", 0, last)
        case "money":
            return "How much", 0, last
        case "name" if low in AT_PLACE and not _is_person(answer):
            return ("", 0, last) if answer[0].text.isupper() else ("Where", 1, last)
    return ("Who" if chosen.kind == "name" and _is_person(answer) else "What"), 0, last


def _auxiliary_and_verb(clause: Clause) -> tuple[str, str] | None:
    """The auxiliary that comes before the subject, and the verb that comes behind it where the rest has none."""
    verb = clause.verb.low
    follows = next((token for token in clause.rest if token.tag != "ADV" and token.low != "not"), None)
    perfect = follows is not None and follows.tag in ("VERB", "AUX")
    if verb in BE or (verb in AUXILIARIES and (verb not in HAVE or perfect)):
        return verb, ""
    try:
        base = english_words.lemma(clause.verb.text, "VERB")
        forms = english_words.penn_tags(clause.verb.text, "VERB")
    except Unavailable:
        return None
    if not forms and base == verb:
        return None
    if base == verb:
        last = clause.subject[-1].text
        several = (last.endswith("s") and not last.istitle()) or any(token.tag == "CCONJ" for token in clause.subject)
        return ("do" if several or "VBD" not in forms else "did"), base
    return ("does" if "VBZ" in forms else "did"), base


def _make_cloze(passage: str, chosen: PassageAnswer, answer: Sequence[ParsedToken]) -> SyntheticQuestion | None:
    tokens = segment_around(remove_brackets(chosen.sentence), answer)
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
    word = word or ("who" if chosen.kind == "name" and _is_person(answer, tokens[last:]) else "what")
    if chosen.kind == "date" and at and tokens[at - 1].low in AT_TIME:
        word = "what year" if len(answer) == 1 else "what month" if len(answer) == 2 else "what date"
    if at and word in ("what", "who") and tokens[at - 1].low in ARTICLES:
        at -= 1
    text = _finish_question(_text_of(passage, tokens[:at]), word, _text_of(passage, tokens[last:]))
    return SyntheticQuestion(text, "cloze") if text else None


def _is_person(tokens: Sequence[ParsedToken], behind: Sequence[ParsedToken] = ()) -> bool:
    """The name is a person's, by a given name, a title, or the verb in the words behind."""
    names = person_names.gender_by_name()
    titled = tokens[0].low.rstrip(".") in person_names.TITLES | PEOPLE
    named = len(tokens) < 4 and (tokens[0].text in names or tokens[0].low in names)
    return titled or (tokens[0].tag == "PROPN" and (named or any(token.low in DEEDS for token in behind[:2])))


def _text_of(passage: str, tokens: Sequence[ParsedToken]) -> str:
    """Tokens as a text, with blanks as they stand in the passage."""
    text = ""
    for before, token in zip([None, *tokens], tokens, strict=False):
        close = before is not None and before.end == token.start
        text += token.text if close or not text or token.text in ",.%" else f" {token.text}"
    return text.strip()


def _lower_case_text(passage: str, tokens: Sequence[ParsedToken]) -> str:
    """Tokens as a text that no longer begins a sentence."""
    text = _text_of(passage, tokens)
    return text[0].lower() + text[1:] if tokens and _is_common_word(passage, tokens[0]) else text


def _is_common_word(passage: str, token: ParsedToken) -> bool:
    """The word has a capital only because it begins a sentence."""
    if not token.text.istitle() or token.tag == "PROPN":
        return False
    if token.tag in ("DET", "ADP", "ADV", "SCONJ"):
        return True
    try:
        in_lexicon = token.tag in ("NOUN", "ADJ") and bool(english_words.penn_tags(token.text, token.tag))
    except Unavailable:
        in_lexicon = False
    return (in_lexicon and not token.low.endswith(PEOPLES)) or re.search(
        rf"\b{re.escape(token.low)}\b", passage
    ) is not None


def _finish_question(*parts: str) -> str | None:
    text = re.sub(r"\s+([,.])", r"\1", " ".join(part.strip() for part in parts if part.strip())).strip(" ,.;:")
    if not 3 <= len(text.split()) <= WORDS or not text[0].isalnum():
        return None
    return text[0].upper() + text[1:] + "?"
