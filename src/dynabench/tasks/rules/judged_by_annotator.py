"""Fooled when the author of the example says so."""

from typing import ClassVar, Literal

from dynabench.tasks.rules.base import Judge
from dynabench.tasks.rules.judged import JudgedRule
from dynabench.tasks.section import Setting


class JudgedByAnnotator(JudgedRule):
    """The author sees the model's answer and says whether it is wrong; until then the outcome is unknown.

    Validators check the judgement.
    """

    rule: Literal["judged_by_annotator"] = Setting(
        "judged_by_annotator", description="Fooled when the example's author says that the answer is wrong."
    )
    judged_by: ClassVar[Judge | None] = "annotator"
