"""Fooled when those who check the example say so."""

from typing import ClassVar, Literal

from dynabench.tasks.rules.base import Judge
from dynabench.tasks.rules.judged import Judged
from dynabench.tasks.section import Setting


class JudgedByValidators(Judged):
    """The votes' verdict says whether the model was wrong; nobody knows before it, or where they cannot agree."""

    rule: Literal["judged_by_validators"] = Setting(
        "judged_by_validators", description="Fooled when the verdict of those who check it is that the answer is wrong."
    )
    judged_by: ClassVar[Judge | None] = "validators"
