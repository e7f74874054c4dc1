"""Sooo: the last vowel of a word of degree or feeling, three times."""

import re
from random import Random

from dynabench.adversaries.perturbations.base import PerText, per_word
from dynabench.adversaries.perturbations.words import Word

_FELT = frozenset(
    """so very really good great bad nice cool fun funny love hate long slow boring happy sad cute sweet awful amazing
    wonderful terrible beautiful ugly huge cold hot please well way totally super""".split()
)
_VOWEL = re.compile(r"[aeiouy](?=[^aeiou]*$)")


def _change(word: Word, rng: Random) -> str | None:
    if word.text.lower() not in _FELT or word.name:
        return None
    return _VOWEL.sub(lambda match: match[0] * 3, word.text, count=1)


_rule = per_word(_change)
TRANSFORMATION = PerText("emphasis", "Letters repeated for emphasis", _rule)
