"""Fooled when the answer is none of the claimed ones."""

from typing import Any, Literal

from dynabench.kit.language import _
from dynabench.tasks.answer_words import answer_words, texts_of
from dynabench.tasks.fields.base import Field
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Setting


class NotIn(Rule):
    """The answer is none of the claimed ones by exact match as in SQuAD (Rajpurkar et al. 2016, section 6.1): case,
    articles and punctuation aside."""

    rule: Literal["not_in"] = Setting("not_in", description="Fooled when the answer is none of the claimed ones.")

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The words of the answer are those of none."""
        accepted = {tuple(answer_words(claim)) for claim in texts_of(claimed)}
        return all(tuple(answer_words(answer)) not in accepted for answer in texts_of(predicted))

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _(
            "An answer is right if it has the words of an accepted one, leaving case, articles and punctuation aside."
        )
