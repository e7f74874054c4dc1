"""Two becomes 2: number words from two to twelve, alone before a small word; one is often no number."""

from collections.abc import Sequence
from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import Word, words

_DIGITS = {
    word: str(number)
    for number, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)
}
_BESIDE = frozenset(
    """hundred thousand million billion dozen half point and or to percent first second third quarters twenty thirty
    forty fifty sixty seventy eighty ninety""".split()
)


def _numbers(text: str, found: Sequence[Word]) -> list[Edit]:
    made = []
    for at, word in enumerate(found):
        beside = [found[place].text.lower() for place in (at - 1, at + 1) if 0 <= place < len(found)]
        if word.text in _DIGITS and not any(each in _BESIDE or each in _DIGITS for each in beside):
            made.append(Edit(word.start, word.end, _DIGITS[word.text]))
    return made


def _rule(text: str, rng: Random) -> list[Edit]:
    return _numbers(text, words(text))


TRANSFORMATION = PerText("numerals", "Number words as digits", _rule)
