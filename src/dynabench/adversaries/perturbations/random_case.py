"""One word in five in CAPITALS, names left alone."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word


def _change(word: Word, rng: Random) -> str | None:
    return word.text.upper() if len(word.text) > 2 and word.text.islower() else None


_rule = per_word(_change, every=5)
TRANSFORMATION = PerText("random_case", "Some words in capitals", _rule)
