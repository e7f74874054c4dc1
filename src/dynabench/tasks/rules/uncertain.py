"""Fooled when the model is not sure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.fields.choice import Choice
from dynabench.tasks.rules.base import Unclaimed, same_answer
from dynabench.tasks.section import Setting

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig


class Uncertain(Unclaimed):
    """The model's probability of its own answer is under a bound, right or not: active learning by least confidence
    (Lewis and Gale 1994; Settles 2009, section 3.1). Collects what a model should learn next."""

    rule: Literal["uncertain"] = Setting("uncertain", description="Fooled when the model is not sure of its answer.")
    below: float = Setting(0.5, gt=0, le=1, description="Fooled when the answer's probability is lower than this.")

    def fooled(
        self,
        prediction: Values,
        claimed: Values,
        fields: Sequence[Field],
        given: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """Return whether the answer's probability is under the bound.

        Raises Unavailable where the model returns none.
        """
        predicted = [prediction.get(field.name) for field in fields]
        if not probabilities or any(not isinstance(answer, str) or answer not in probabilities for answer in predicted):
            raise Unavailable(_("The model tells no probability of its answer. Tell the owner of the task."))
        return any(probabilities[str(answer)] < self.below for answer in predicted)

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """The answer is another: what counts as right where no probability is known."""
        return not same_answer(predicted, claimed, field)

    def unfit(self, field: Field) -> str:
        """Probabilities are those of options."""
        return "" if isinstance(field, Choice) else _("only the options of a choice have probabilities.")

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Models must tell probabilities, and they tell those of one field."""
        yield from super().problems(config)
        if not config.output.probabilities:
            yield "rule", _("Models must tell probabilities: say output: {probabilities: true}.")
        if len(self.counting(config.answer)) > 1:
            yield "fields", _("Name the one choice whose probabilities the models tell.")

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _("An answer is right if it is the same as one that is accepted, however sure the model is.")
