"""Digits that stand for letters (gr3at), in one word of ten."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word

_FOR = str.maketrans("aeio", "4310")


def _change(word: Word, rng: Random) -> str | None:
    return word.text.translate(_FOR) if word.plain else None


_rule = per_word(_change)
TRANSFORMATION = PerText("leetspeak", "Digits for letters", _rule)
