"""Fooled when the answer is another."""

from typing import Any, Literal

from dynabench.kit.language import _
from dynabench.tasks.fields.base import Field
from dynabench.tasks.rules.base import Rule, same_answer
from dynabench.tasks.section import Setting


class Differs(Rule):
    """The model's answer is not the claimed one: the rule of Adversarial NLI (Nie et al. 2020).

    The field compares the answers: texts ignore case and spacing, numbers differ within their tolerance.
    """

    rule: Literal["differs"] = Setting("differs", description="Fooled when the answer is not the claimed one.")

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The answer is not the claimed one."""
        return not same_answer(predicted, claimed, field)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _("An answer is right if it is the same as one that is accepted.")
