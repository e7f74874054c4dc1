"""A space inside a long word, one word in ten."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word


def _change(word: Word, rng: Random) -> str | None:
    if not word.plain or len(word.text) < 7:
        return None
    at = rng.randrange(3, len(word.text) - 2)
    return f"{word.text[:at]} {word.text[at:]}"


_rule = per_word(_change)
TRANSFORMATION = PerText("split_words", "A word split in two", _rule)
