"""Singular they for he or she, with the verb that follows."""

import re
from collections.abc import Sequence

from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import Word, like

_PLURAL = {
    "is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't", "wasn't": "weren't",
    "hasn't": "haven't", "doesn't": "don't",
}  # fmt: skip
_HELPS = frozenset(
    """did will would can could should may might must had shall didn't won't wouldn't can't couldn't shouldn't hadn't
    cannot""".split()
)
_PAST = frozenset(
    """
    ate became began bought brought built came caught chose cut did drank drew drove fell felt fought found gave got
    grew had heard held hit hurt kept knew laid led left let lost made meant met paid put ran rode rose said sang
    sat saw sent set shook shot slept sold spent spoke spun stole stood swam taught threw thought told took
    understood went woke won wore wrote
    """.split()
)
_BETWEEN = frozenset("also always often never just still now already soon then even sometimes rarely seldom".split())
_WH = frozenset("what where when why how who which whom and but so".split())
_STOP = re.compile(r"[.!?;:]")


def they(text: str, found: Sequence[Word], at: int) -> list[Edit] | None:
    """The edits that make `he` or `she` (perhaps with 's) at place `at` `they`, with its verb; None where the verb is
    beyond these rules.

    Helping verbs and past forms stay, present forms lose their s, be, have and do take their plural, before the pronoun
    in questions. A second verb that may belong to the pronoun ends the attempt.
    """
    word, lower = found[at], found[at].text.lower().replace("’", "'")
    if _second_verb(text, found, at):
        return None
    if lower.endswith("'s"):
        return _contracted(text, found, at)
    edits = [Edit(word.start, word.end, like(word.text[:1] + "x", "they"))]
    if word.text.isupper() and len(word.text) > 1 and text.isupper():
        return None
    before = _next(text, found, at, -1)
    if before and before.text.lower() in _PLURAL:
        further = _next(text, found, at - 1, -1)
        asks = before.begins or further is None or further.text.lower() in _WH
        return [*edits, _put(before, _PLURAL[before.text.lower()])] if asks else None
    if before and before.text.lower() in _HELPS and (before.begins or _wh(text, found, at - 1)):
        return edits
    verb = _verb(text, found, at)
    if verb is None:
        return edits
    new = _plural(verb.text.lower())
    return None if new is None else [*edits, *([_put(verb, new)] if new != verb.text.lower() else [])]


def _wh(text: str, found: Sequence[Word], at: int) -> bool:
    before = _next(text, found, at, -1)
    return before is None or before.text.lower() in _WH


def _put(word: Word, new: str) -> Edit:
    return Edit(word.start, word.end, like(word.text, new))


def _next(text: str, found: Sequence[Word], at: int, step: int) -> Word | None:
    """The word beside, where only a space stands between."""
    if not 0 <= at + step < len(found):
        return None
    first, second = sorted((found[at], found[at + step]), key=lambda word: word.start)
    return found[at + step] if text[first.end : second.start] == " " else None


def _verb(text: str, found: Sequence[Word], at: int) -> Word | None:
    """The word after the pronoun, adverbs passed over."""
    while word := _next(text, found, at, 1):
        if word.text.lower() not in _BETWEEN and not (word.text.endswith("ly") and len(word.text) > 5):
            return word
        at += 1
    return None


def _plural(verb: str) -> str | None:
    """The form after they; None for what is no verb that these rules know."""
    verb = verb.replace("’", "'")
    if verb in _PLURAL:
        return _PLURAL[verb]
    if verb in _HELPS or verb in _PAST or (verb.endswith("ed") and len(verb) > 4):
        return verb
    if not verb.endswith("s") or verb.endswith(("ss", "us", "is", "'s")) or len(verb) < 4:
        return None
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else verb[:-1]


def _contracted(text: str, found: Sequence[Word], at: int) -> list[Edit] | None:
    """he's: they're before what only be, they've before what only have takes."""
    word, after = found[at], _next(text, found, at, 1)
    said = after.text.lower() if after else ""
    if said in ("been", "got", "had"):
        new = "they've"
    elif said.endswith("ing") or said in ("a", "an", "the", "not", "in", "on", "at", "so", "very", "too", "my", "also"):
        new = "they're"
    else:
        return None
    return [Edit(word.start, word.end, like(word.text[:1] + "x", new))]


def _second_verb(text: str, found: Sequence[Word], at: int) -> bool:
    """Whether the rest of the sentence has a form in s (or was) right after and, or, but, then or a comma."""
    for place in range(at + 1, len(found)):
        gap = text[found[place - 1].end : found[place].start]
        if _STOP.search(gap):
            return False
        joined = "," in gap or found[place - 1].text.lower() in ("and", "or", "but", "then", "who", "that", "which")
        said = found[place].text.lower()
        if place > at + 1 and joined and (said in _PLURAL or (said.endswith("s") and not said.endswith(("ss", "us")))):
            return said not in ("his", "this", "as", "its")
    return False
