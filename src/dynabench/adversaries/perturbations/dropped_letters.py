"""A letter inside a word, left out."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, typo


def _change(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at + 1 :]


_rule = typo(_change)
TRANSFORMATION = PerText("dropped_letters", "Typing errors: a letter left out", _rule)
