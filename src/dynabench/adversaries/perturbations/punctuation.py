"""Punctuation, spaces and emphasis: marks and spaces added or removed, words split and merged, vowels repeated."""

import re
from collections.abc import Sequence
from itertools import pairwise
from random import Random

from dynabench.adversaries.perturbations.text_edits import Edit
from dynabench.adversaries.perturbations.transformation import PerText, Transformation, per_match, per_word
from dynabench.adversaries.perturbations.words import NEGATIONS, Word, protected_spans

_LAST_MARK = re.compile(r"(?<![.!?…])([.!?]?)(?=[\"'”’)\]]*\s*$)")
_REMOVABLE_MARK = re.compile(r"(?<=[a-z])[,;](?=\s)|(?<=[a-z]{3})\.(?=\s*$)")
"""Commas and full stops; marks that change the meaning (?, !, quotes) and those in numbers stay."""
_SPACE_AFTER_MARK = re.compile(r"(?<=[a-z]{2}[,;:!?.]) (?=[A-Za-z]{2})")
_WORDS_OF_DEGREE = frozenset(
    """so very really good great bad nice cool fun funny love hate long slow boring happy sad cute sweet awful amazing
    wonderful terrible beautiful ugly huge cold hot please well way totally super""".split()
)
_LAST_VOWEL = re.compile(r"[aeiouy](?=[^aeiou]*$)")


def _add_punctuation(text: str, rng: Random) -> list[Edit]:
    """The mark that ends the text is written twice; dots are added where there is none."""
    match = _LAST_MARK.search(text.rstrip())
    if match is None or not text[: match.start()].strip() or not text[match.start() - 1].isascii():
        return []
    at = match.end()
    return [Edit(at, at, {"!": "!!", "?": "?", ".": ".."}.get(match[1], "..."))]


def _remove_punctuation(text: str, rng: Random) -> list[Edit]:
    spans = protected_spans(text)
    return [
        Edit(match.start(), match.end(), "")
        for match in _REMOVABLE_MARK.finditer(text)
        if not any(start <= match.start() < end for start, end in spans)
    ]


def _double_spaces(text: str, text_words: Sequence[Word]) -> list[Edit]:
    return [
        Edit(word.end, word.end, " ")
        for word, after in pairwise(text_words)
        if text[word.end : after.start] == " "
    ]  # fmt: skip


def _drop_spaces_after_marks(text: str, text_words: Sequence[Word]) -> list[Edit]:
    return [Edit(match.start(), match.end(), "") for match in _SPACE_AFTER_MARK.finditer(text)]


def _split_word(word: Word, rng: Random) -> str | None:
    if not word.plain or len(word.text) < 7:
        return None
    at = rng.randrange(3, len(word.text) - 2)
    return f"{word.text[:at]} {word.text[at:]}"


def _merge_words(text: str, text_words: Sequence[Word]) -> list[Edit]:
    """Two short words stay apart, since another word may come out, and so does what stands beside a negation."""
    return [
        Edit(word.end, after.start, "")
        for word, after in pairwise(text_words)
        if text[word.end : after.start] == " "
        and _may_be_merged(word)
        and _may_be_merged(after)
        and max(len(word.text), len(after.text)) > 4
    ]


def _may_be_merged(word: Word) -> bool:
    return word.text.islower() and word.text.isalpha() and len(word.text) > 2 and word.text not in NEGATIONS


def _repeat_vowel(word: Word, rng: Random) -> str | None:
    """Sooo: the last vowel of a word of degree or feeling, three times."""
    if word.text.lower() not in _WORDS_OF_DEGREE or word.may_be_name:
        return None
    return _LAST_VOWEL.sub(lambda match: match[0] * 3, word.text, count=1)


TRANSFORMATIONS: tuple[Transformation, ...] = (
    PerText("punctuation_added", "Punctuation added", _add_punctuation),
    PerText("punctuation_removed", "Punctuation left out", _remove_punctuation),
    PerText("whitespace_added", "Spaces added", per_match(_double_spaces)),
    PerText("whitespace_removed", "No space after punctuation", per_match(_drop_spaces_after_marks)),
    PerText("split_words", "A word split in two", per_word(_split_word)),
    PerText("merged_words", "Two words run together", per_match(_merge_words)),
    PerText("emphasis", "Letters repeated for emphasis", per_word(_repeat_vowel)),
)
