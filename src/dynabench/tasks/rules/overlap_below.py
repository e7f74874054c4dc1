"""Fooled when two sets have too little in common."""

import unicodedata
from typing import Any, Literal

from dynabench.kit.language import _
from dynabench.tasks.answer_words import answer_words, texts_of
from dynabench.tasks.fields.base import Field
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Setting


class OverlapBelow(Rule):
    """Two sets overlap too little: Jaccard's index (1912), intersection over union, or the F1 of Dice (1945).

    The members of a list (options, marked texts, tags) are compared whole, without case and outer blanks; of a single
    text its words are the set. Two empty sets are the same.
    """

    rule: Literal["overlap_below"] = Setting("overlap_below", description="Fooled when two sets share too little.")
    threshold: float = Setting(0.5, gt=0, le=1, description="Fooled when the overlap is lower than this.")
    measure: Literal["jaccard", "f1"] = Setting("jaccard", description="Intersection over union, or F1.")

    @property
    def bound(self) -> float:
        """The threshold."""
        return self.threshold

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The overlap is under the threshold."""
        return self.nearness(predicted, claimed, field) < self.threshold

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float:
        """The overlap."""
        return set_overlap(_members(predicted), _members(claimed), self.measure)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        measure = "Jaccard's index" if self.measure == "jaccard" else "the F1"
        return _(
            "An answer is right if %(measure)s of it and an accepted one is %(threshold)s or more.",
            measure=measure,
            threshold=f"{self.threshold:g}",
        )


def set_overlap(first: frozenset[str], second: frozenset[str], measure: Literal["jaccard", "f1"]) -> float:
    """Return the share that two sets have in common, from 0 to 1; 1 for two empty sets."""
    if not first and not second:
        return 1.0
    common = len(first & second)
    return common / len(first | second) if measure == "jaccard" else 2 * common / (len(first) + len(second))


def _members(value: Any) -> frozenset[str]:
    if isinstance(value, str):
        return frozenset(answer_words(value))
    return frozenset(unicodedata.normalize("NFC", " ".join(text.split())).casefold() for text in texts_of(value))
