"""Two neighbouring letters inside a word, swapped."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, typo


def _change(word: str, at: int, rng: Random) -> str:
    at = min(at, len(word) - 3)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


_rule = typo(_change)
TRANSFORMATION = PerText("swapped_letters", "Typing errors: two letters swapped", _rule)
