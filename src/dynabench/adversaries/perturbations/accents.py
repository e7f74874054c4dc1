"""An accent on a vowel, one word in ten."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word

_WITH = dict(zip("aeiou", "\u00e1\u00e9\u00ed\u00f3\u00fa", strict=True))


def _change(word: Word, rng: Random) -> str | None:
    places = [at for at, letter in enumerate(word.text) if letter in _WITH]
    if not word.plain or not places:
        return None
    at = rng.choice(places)
    return word.text[:at] + _WITH[word.text[at]] + word.text[at + 1 :]


_rule = per_word(_change)
TRANSFORMATION = PerText("accents", "Accents added", _rule)
