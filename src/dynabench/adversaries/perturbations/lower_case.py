"""all in small letters, but for addresses, mentions and abbreviations such as US."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import words


def _rule(text: str, rng: Random) -> list[Edit]:
    shouted = text.isupper()
    return [
        Edit(word.start, word.end, word.text.lower())
        for word in words(text)
        if shouted or len(word.text) == 1 or not word.text.isupper()
    ]


TRANSFORMATION = PerText("lower_case", "All in small letters", _rule)
