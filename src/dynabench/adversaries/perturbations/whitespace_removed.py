"""The space after a comma or a full stop left out, one for ten words."""

import re
from collections.abc import Sequence

from dynabench.adversaries.perturbations.base import PerText, per_match
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import Word

_SPACE = re.compile(r"(?<=[a-z]{2}[,;:!?.]) (?=[A-Za-z]{2})")


def _gaps(text: str, found: Sequence[Word]) -> list[Edit]:
    return [Edit(match.start(), match.end(), "") for match in _SPACE.finditer(text)]


_rule = per_match(_gaps)
TRANSFORMATION = PerText("whitespace_removed", "No space after punctuation", _rule)
