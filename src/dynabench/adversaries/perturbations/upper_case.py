"""ALL IN CAPITALS, but for addresses, mentions and placeholders."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import words


def _rule(text: str, rng: Random) -> list[Edit]:
    return [Edit(word.start, word.end, word.text.upper()) for word in words(text)]


TRANSFORMATION = PerText("upper_case", "All in capitals", _rule)
