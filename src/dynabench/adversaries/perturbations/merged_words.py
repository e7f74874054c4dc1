"""The space between two words left out, one in ten; never beside a negation, nor where another word would come out."""

from collections.abc import Sequence
from itertools import pairwise

from dynabench.adversaries.perturbations.base import PerText, per_match
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import NEGATIONS, Word


def _merged(text: str, found: Sequence[Word]) -> list[Edit]:
    return [
        Edit(word.end, after.start, "")
        for word, after in pairwise(found)
        if text[word.end : after.start] == " " and _fits(word) and _fits(after) and max(_long(word), _long(after)) > 4
    ]


def _fits(word: Word) -> bool:
    return word.text.islower() and word.text.isalpha() and len(word.text) > 2 and word.text not in NEGATIONS


def _long(word: Word) -> int:
    return len(word.text)


_rule = per_match(_merged)
TRANSFORMATION = PerText("merged_words", "Two words run together", _rule)
