"""A Latin letter replaced by the Cyrillic one that looks the same (confusable by Unicode UTS #39)."""

from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word

_SAME = str.maketrans("aceopxyijs", "\u0430\u0441\u0435\u043e\u0440\u0445\u0443\u0456\u0458\u0455")


def _change(word: Word, rng: Random) -> str | None:
    places = [at for at, letter in enumerate(word.text) if ord(letter) in _SAME]
    if word.name or len(word.text) < 4 or not places:
        return None
    at = rng.choice(places)
    return word.text[:at] + word.text[at].translate(_SAME) + word.text[at + 1 :]


_rule = per_word(_change)
TRANSFORMATION = PerText("look_alikes", "Look-alike characters", _rule)
