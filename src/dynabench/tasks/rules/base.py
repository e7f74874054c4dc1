"""What every fooling rule is: it compares answers, says what counts as right, and what it is about."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dynabench.errors import Unavailable
from dynabench.language import _
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.section import Name, Section, Setting, did_you_mean

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig

Judge = Literal["annotator", "validators", "model"]


class Rule(Section, ABC):
    """The `fooled:` part of a config: when a model's answer is so far from the claimed one that it was fooled.

    A subclass sets `rule` to a literal, adds settings of its own, and implements `differs` and `right_in_words`.
    `given` is what the model was given: context and input by name.
    """

    rule: str = Setting(description="Name of the fooling rule.")
    fields: list[Name] = Setting([], description="Answer fields that count; all of them when empty.")
    combine: Literal["any", "all"] = Setting(
        "any", description="Of several answer fields: one that differs is enough, or all of them must."
    )

    judged_by: ClassVar[Judge | None] = None
    """Who says whether the model was fooled, where that is not computed from the answers."""

    @abstractmethod
    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """Whether the model is fooled in this field."""

    @property
    @abstractmethod
    def right_in_words(self) -> str:
        """When an answer counts as right, in a sentence."""

    @property
    def bound(self) -> float | None:
        """The nearness, from 0 to 1, under which an answer fools; None where the rule knows no nearness."""
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """What models are given that `right` needs, by name."""
        return ()

    def counting(self, answer: Sequence[Field]) -> list[Field]:
        """Those of the answer's fields that the rule looks at."""
        return [field for field in answer if not self.fields or field.name in self.fields]

    def fooled(
        self,
        prediction: Values,
        claimed: Values,
        fields: Sequence[Field],
        given: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """Whether the model is fooled by a whole answer; `fields` are those that count.

        `probabilities` are those of the options, where the model tells them.
        """
        joined = all if self.combine == "all" else any
        return bool(fields) and joined(self.differs(prediction.get(f.name), claimed.get(f.name), f) for f in fields)

    def agrees(self, answer: Values, claimed: Values, fields: Sequence[Field], given: Values = NOTHING) -> bool:
        """Whether a person's blind answer is the claimed one: where a model would not have been fooled."""
        return not self.fooled(answer, claimed, fields, given)

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field, given: Values = NOTHING) -> bool:
        """Whether an answer counts as right wherever answers are called right or wrong: some accepted answer is one by
        which the model would not be fooled, or which it is itself (no answer, where there is none)."""
        return any(predicted == each or not self.differs(predicted, each, field) for each in accepted)

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float | None:
        """How near two answers are, from 0 to 1, where the rule weighs that against `bound`."""
        return None

    def unfit(self, field: Field) -> str:
        """Why the rule cannot look at answers of this field; empty where it can."""
        return ""

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """What in this task the rule cannot work with: key below `fooled` and what to do."""
        names = [field.name for field in config.answer]
        for index, name in enumerate(self.fields):
            if name not in names:
                yield f"fields.{index}", _("There is no such answer field.") + did_you_mean(name, names)
        for field in self.counting(config.answer):
            if reason := self.unfit(field):
                yield ("fields" if self.fields else "rule"), _("“%(name)s”: %(reason)s", name=field.name, reason=reason)


class Unclaimed(Rule):
    """A rule that asks something of the model's answer whatever was claimed; people's answers must be the claimed."""

    def agrees(self, answer: Values, claimed: Values, fields: Sequence[Field], given: Values = NOTHING) -> bool:
        """Whether the two are the same in every field that counts."""
        return all(same(answer.get(field.name), claimed.get(field.name), field) for field in fields)


def same(first: Any, second: Any, field: Field) -> bool:
    """Whether two answers of a field mean the same; an answer that is missing is the same as none."""
    return first is second if first is None or second is None else field.same(first, second)


def require_answers(prediction: Values, fields: Sequence[Field]) -> None:
    """Raise `Unavailable` where the prediction lacks one of these fields or holds what it cannot."""
    for field in fields:
        if not isinstance(prediction, Mapping) or field.name not in prediction:
            raise _without(field)
        if not field.is_answer(prediction[field.name]):
            raise Unavailable(
                _(
                    "The model's “%(name)s” %(no_answer)s. Tell the owner of the task.",
                    name=field.name,
                    no_answer=field.no_answer,
                )
            )
        if prediction[field.name] is None and field.required:
            raise _without(field)


def _without(field: Field) -> Unavailable:
    return Unavailable(_("The model's answer has no “%(name)s”. Tell the owner of the task.", name=field.name))
