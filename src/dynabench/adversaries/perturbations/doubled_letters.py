"""A letter inside a word, typed twice."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, typo


def _change(word: str, at: int, rng: Random) -> str:
    return word[:at] + word[at] + word[at:]


_rule = typo(_change)
TRANSFORMATION = PerText("doubled_letters", "Typing errors: a letter twice", _rule)
