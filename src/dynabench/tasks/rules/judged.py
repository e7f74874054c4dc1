"""Base of the rules by which people or a model judge each answer."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dynabench.kit.language import _
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.rules.base import Unclaimed, same_answer
from dynabench.tasks.section import Line, Markdown, Setting

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig


class JudgedRule(Unclaimed):
    """A rule that computes nothing: the author, validators or a judge model say of each answer whether it is wrong.

    Validators see the models' answers and are asked the same question, so that their verdicts measure the
    judgements: `correct` is a model error, `incorrect` is none.
    """

    question: Line = Setting("Is the model's answer wrong?", min_length=1, description="What is asked about an answer.")
    guidance: Markdown = Setting("", description="What counts as wrong, beside the question; markdown.")

    def fooled(
        self,
        prediction: Values,
        claimed: Values,
        fields: Sequence[Field],
        given: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """Return whether the answer differs from the claimed one: used on benchmarks, where answers are not judged."""
        return not self.agrees(prediction, claimed, fields, given)

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """Return whether the answer differs: used on benchmarks, where answers are not judged."""
        return not same_answer(predicted, claimed, field)

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Yield a problem for blind validation, in which validators see no model's answer and so cannot judge it."""
        yield from super().problems(config)
        if config.validation.mode != "judge":
            yield "rule", _("Validators look at the models' answers here: say validate: {mode: judge}.")

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _("An answer is right if it is the same as one that is accepted: nobody judges answers here.")
