"""A contraction written out: don't, do not."""

import re
from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.contractions_made import SHORT
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import like

_LONG = {short: long for long, short in SHORT.items() if long != "can not"}
_SHORT = re.compile(rf"(?<![\w'’-])(?:{'|'.join(_LONG)})(?![\w'’-])".replace("'", "['’]"), re.IGNORECASE)
_ASKS = re.compile(r" (?:i|you|he|she|it|we|they|the|a|this|that)\b", re.IGNORECASE)


def _rule(text: str, rng: Random) -> list[Edit]:
    """None where a subject follows: "isn't it" is not "is not it"."""
    return [
        Edit(match.start(), match.end(), like(match[0][:1] + "x", _LONG[match[0].lower().replace("’", "'")]))
        for match in _SHORT.finditer(text)
        if not (match[0].lower().endswith(("n't", "n’t")) and _ASKS.match(text, match.end()))
    ]


TRANSFORMATION = PerText("contractions_expanded", "Contractions written out", _rule)
