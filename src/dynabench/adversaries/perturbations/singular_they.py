"""Rewrite sentences about one person with the singular they: pronouns, and the verbs that agree with them."""

import re
from collections.abc import Sequence

from dynabench.adversaries.perturbations.transformation import (
    Edit,
    SourceWord,
    match_case,
    replace_in_case,
)

_PLURAL_FORMS = {
    "is": "are", "was": "were", "has": "have", "does": "do", "isn't": "aren't", "wasn't": "weren't",
    "hasn't": "haven't", "doesn't": "don't",
}  # fmt: skip
_HELPING_VERBS = frozenset(
    """did will would can could should may might must had shall didn't won't wouldn't can't couldn't shouldn't hadn't
    cannot""".split()
)
_PAST_FORMS = frozenset(
    """
    ate became began bought brought built came caught chose cut did drank drew drove fell felt fought found gave got
    grew had heard held hit hurt kept knew laid led left let lost made meant met paid put ran rode rose said sang
    sat saw sent set shook shot slept sold spent spoke spun stole stood swam taught threw thought told took
    understood went woke won wore wrote
    """.split()
)
_ADVERBS = frozenset("also always often never just still now already soon then even sometimes rarely seldom".split())
_QUESTION_WORDS = frozenset("what where when why how who which whom and but so".split())
_CLAUSE_END = re.compile(r"[.!?;:]")


def replace_with_they(text: str, text_words: Sequence[SourceWord], at: int) -> list[Edit] | None:
    """Return the edits that make *he* or *she* (perhaps with 's) at place `at` *they*, with its verb.

    Helping verbs and past forms stay, present forms lose their s, *be*, *have* and *do* take their plural, before the
    pronoun in questions. None where the verb is beyond these rules, or a second verb may belong to the pronoun.
    """
    word, lower = text_words[at], text_words[at].text.lower().replace("’", "'")
    if _second_verb_follows(text, text_words, at):
        return None
    if lower.endswith("'s"):
        return _expand_pronoun_contraction(text, text_words, at)
    edits = [Edit(word.start, word.end, match_case(word.text[:1] + "x", "they"))]
    if word.text.isupper() and len(word.text) > 1 and text.isupper():
        return None
    before = _adjacent_word(text, text_words, at, -1)
    if before and before.text.lower() in _PLURAL_FORMS:
        further = _adjacent_word(text, text_words, at - 1, -1)
        is_question = before.begins_sentence or further is None or further.text.lower() in _QUESTION_WORDS
        return [*edits, replace_in_case(before, _PLURAL_FORMS[before.text.lower()])] if is_question else None
    helping = before is not None and before.text.lower() in _HELPING_VERBS
    if before and helping and (before.begins_sentence or _question_word_precedes(text, text_words, at - 1)):
        return edits
    verb = _verb_after(text, text_words, at)
    if verb is None:
        return edits
    plural = _plural_form(verb.text.lower())
    if plural is None:
        return None
    return [*edits, replace_in_case(verb, plural)] if plural != verb.text.lower() else edits


def _question_word_precedes(text: str, text_words: Sequence[SourceWord], at: int) -> bool:
    before = _adjacent_word(text, text_words, at, -1)
    return before is None or before.text.lower() in _QUESTION_WORDS


def _adjacent_word(text: str, text_words: Sequence[SourceWord], at: int, step: int) -> SourceWord | None:
    """The word beside, where only a space stands between."""
    if not 0 <= at + step < len(text_words):
        return None
    first, second = sorted((text_words[at], text_words[at + step]), key=lambda word: word.start)
    return text_words[at + step] if text[first.end : second.start] == " " else None


def _verb_after(text: str, text_words: Sequence[SourceWord], at: int) -> SourceWord | None:
    """The word after the pronoun, adverbs passed over."""
    while word := _adjacent_word(text, text_words, at, 1):
        if word.text.lower() not in _ADVERBS and not (word.text.endswith("ly") and len(word.text) > 5):
            return word
        at += 1
    return None


def _plural_form(verb: str) -> str | None:
    """The form after *they*; None for a verb that these rules do not know."""
    verb = verb.replace("’", "'")
    if verb in _PLURAL_FORMS:
        return _PLURAL_FORMS[verb]
    if verb in _HELPING_VERBS or verb in _PAST_FORMS or (verb.endswith("ed") and len(verb) > 4):
        return verb
    if not verb.endswith("s") or verb.endswith(("ss", "us", "is", "'s")) or len(verb) < 4:
        return None
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else verb[:-1]


def _expand_pronoun_contraction(text: str, text_words: Sequence[SourceWord], at: int) -> list[Edit] | None:
    """*he's* becomes *they're* before words that only *be* takes, *they've* before those that only *have* takes."""
    word, after = text_words[at], _adjacent_word(text, text_words, at, 1)
    next_word = after.text.lower() if after else ""
    be_follows = ("a", "an", "the", "not", "in", "on", "at", "so", "very", "too", "my", "also")
    if next_word in ("been", "got", "had"):
        new = "they've"
    elif next_word.endswith("ing") or next_word in be_follows:
        new = "they're"
    else:
        return None
    return [Edit(word.start, word.end, match_case(word.text[:1] + "x", new))]


def _second_verb_follows(text: str, text_words: Sequence[SourceWord], at: int) -> bool:
    """The rest of the sentence has a form in s (or was) right after and, or, but, then or a comma."""
    for place in range(at + 1, len(text_words)):
        gap = text[text_words[place - 1].end : text_words[place].start]
        if _CLAUSE_END.search(gap):
            return False
        before, word = text_words[place - 1].text.lower(), text_words[place].text.lower()
        joined = "," in gap or before in ("and", "or", "but", "then", "who", "that", "which")
        verb_like = word in _PLURAL_FORMS or (word.endswith("s") and not word.endswith(("ss", "us")))
        if place > at + 1 and joined and verb_like:
            return word not in ("his", "this", "as", "its")
    return False
