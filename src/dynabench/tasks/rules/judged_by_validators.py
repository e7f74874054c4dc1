"""Fooled when those who check the example say so."""

from typing import ClassVar, Literal

from dynabench.tasks.rules.base import Judge
from dynabench.tasks.rules.judged import JudgedRule
from dynabench.tasks.section import Setting


class JudgedByValidators(JudgedRule):
    """The verdict of the votes says whether the model was wrong; before it, or where votes disagree, nobody knows."""

    rule: Literal["judged_by_validators"] = Setting(
        "judged_by_validators", description="Fooled when the verdict of those who check it is that the answer is wrong."
    )
    judged_by: ClassVar[Judge | None] = "validators"
