"""More of the punctuation that ends a text, or dots where there is none."""

import re
from random import Random

from dynabench.adversaries.perturbations.base import PerText
from dynabench.adversaries.perturbations.edits import Edit

_END = re.compile(r"(?<![.!?…])([.!?]?)(?=[\"'”’)\]]*\s*$)")


def _rule(text: str, rng: Random) -> list[Edit]:
    match = _END.search(text.rstrip())
    if match is None or not text[: match.start()].strip() or not text[match.start() - 1].isascii():
        return []
    at = match.end()
    return [Edit(at, at, {"!": "!!", "?": "?", ".": ".."}.get(match[1], "..."))]


TRANSFORMATION = PerText("punctuation_added", "Punctuation added", _rule)
