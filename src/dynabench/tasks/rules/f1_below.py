"""Fooled when the answers share too few words."""

from typing import Any, Literal

from dynabench.kit.language import _
from dynabench.tasks.answer_words import texts_of, word_f1
from dynabench.tasks.fields.base import Field
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Setting


class F1Below(Rule):
    """The two answers share too few words: word F1 as in SQuAD (Rajpurkar et al. 2016, section 6.1), under the bound
    of AdversarialQA (Bartolo et al. 2020)."""

    rule: Literal["f1_below"] = Setting("f1_below", description="Fooled when the F1 of shared words is too low.")
    threshold: float = Setting(0.4, gt=0, le=1, description="Fooled when the word F1 is lower than this.")

    @property
    def bound(self) -> float:
        """The threshold."""
        return self.threshold

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The F1 is under the threshold; of several claimed answers the nearest counts."""
        return self.nearness(predicted, claimed, field) < self.threshold

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float:
        """The word F1 of the two that are nearest."""
        predicted_texts = texts_of(predicted)
        return max(
            (word_f1(predicted_text, other) for predicted_text in predicted_texts for other in texts_of(claimed)),
            default=0.0,
        )

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        bound = f"{self.threshold:g}"
        return _(
            "An answer is right if the F1 of its words and those of an accepted one is %(bound)s or more.", bound=bound
        )
