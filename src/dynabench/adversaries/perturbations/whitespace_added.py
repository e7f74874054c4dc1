"""A second space between two words, one in ten."""

from collections.abc import Sequence
from itertools import pairwise

from dynabench.adversaries.perturbations.base import PerText, per_match
from dynabench.adversaries.perturbations.edits import Edit
from dynabench.adversaries.perturbations.words import Word


def _doubled(text: str, found: Sequence[Word]) -> list[Edit]:
    return [
        Edit(word.end, word.end, " ")
        for word, after in pairwise(found)
        if text[word.end : after.start] == " "
    ]  # fmt: skip


_rule = per_match(_doubled)
TRANSFORMATION = PerText("whitespace_added", "Spaces added", _rule)
