"""Commas and full stops left out; marks that change the meaning (?, !, quotes) and those in numbers stay."""

import re
from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import kept

_MARK = re.compile(r"(?<=[a-z])[,;](?=\s)|(?<=[a-z]{3})\.(?=\s*$)")


def _rule(text: str, rng: Random) -> list[Edit]:
    spans = kept(text)
    return [
        Edit(match.start(), match.end(), "")
        for match in _MARK.finditer(text)
        if not any(start <= match.start() < end for start, end in spans)
    ]


TRANSFORMATION = PerText("punctuation_removed", "Punctuation left out", _rule)
