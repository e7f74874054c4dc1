"""A zero-width space (U+200B) inside a word: nobody sees it."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word


def _change(word: Word, rng: Random) -> str | None:
    if not word.text.isalpha() or len(word.text) < 4:
        return None
    at = rng.randrange(1, len(word.text))
    return f"{word.text[:at]}\u200b{word.text[at:]}"


_rule = per_word(_change)
TRANSFORMATION = PerText("zero_width", "Invisible characters", _rule)
