"""Base of all fooling rules, the one that a task has by default, and when several models together are fooled."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.tasks.fields.base import NOTHING, Field, Values, same_answer
from dynabench.tasks.section import Name, Section, Setting, did_you_mean

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig


Judge = Literal["annotator", "validators", "model"]


class Rule(Section, ABC):
    """The `fooled:` part of a config: when a model's answer is so far from the claimed one that it was fooled.

    A subclass sets `rule` to a literal, adds settings of its own, and implements `differs` and `right_in_words`.
    `inputs` are the values that the model was sent: context and input by name.
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
        """Return whether the model is fooled in this field."""

    @property
    @abstractmethod
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""

    @property
    def bound(self) -> float | None:
        """The nearness, from 0 to 1, under which an answer fools; None where the rule knows no nearness."""
        return None

    @property
    def reads(self) -> tuple[str, ...]:
        """Names of the model's inputs that `right` needs."""
        return ()

    def counting(self, answer: Sequence[Field]) -> list[Field]:
        """Return the answer's fields that the rule looks at."""
        return [field for field in answer if not self.fields or field.name in self.fields]

    def fooled(
        self,
        prediction: Values,
        claimed: Values,
        fields: Sequence[Field],
        inputs: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """Return whether the model is fooled by a whole answer; `fields` are those that count.

        `probabilities` are those of the options, where the model returns them.
        """
        joined = all if self.combine == "all" else any
        return bool(fields) and joined(self.differs(prediction.get(f.name), claimed.get(f.name), f) for f in fields)

    def agrees(self, answer: Values, claimed: Values, fields: Sequence[Field], inputs: Values = NOTHING) -> bool:
        """Return whether a person's blind answer is the claimed one: where a model would not have been fooled."""
        return not self.fooled(answer, claimed, fields, inputs)

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field, inputs: Values = NOTHING) -> bool:
        """Return whether an answer is right where answers are called right or wrong.

        It is right if an accepted answer would not count as fooling the model, or equals it (no answer, where there is
        none).
        """
        return any(
            predicted == accepted_answer or not self.differs(predicted, accepted_answer, field)
            for accepted_answer in accepted
        )

    def nearness(self, predicted: Any, claimed: Any, field: Field) -> float | None:
        """Return the nearness of two answers, from 0 to 1, where the rule compares it with `bound`; else None."""
        return None

    def unfit(self, field: Field) -> str:
        """Return the reason why the rule cannot look at answers of this field; "" where it can."""
        return ""

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Yield what the rule cannot work with in this task: the key below `fooled` and a message."""
        names = [field.name for field in config.answer]
        for index, name in enumerate(self.fields):
            if name not in names:
                yield f"fields.{index}", _("There is no such answer field.") + did_you_mean(name, names)
        for field in self.counting(config.answer):
            if reason := self.unfit(field):
                yield ("fields" if self.fields else "rule"), _("“%(name)s”: %(reason)s", name=field.name, reason=reason)


class Unclaimed(Rule):
    """A rule about the model's answer alone, whatever was claimed; people's answers must equal the claimed ones.

    So must answers on benchmarks, where nobody judges them and nobody knows a probability.
    """

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """Return whether the answer is another than the claimed one."""
        return not same_answer(predicted, claimed, field)

    def agrees(self, answer: Values, claimed: Values, fields: Sequence[Field], inputs: Values = NOTHING) -> bool:
        """Return whether the two are the same in every field that counts."""
        return all(same_answer(answer.get(field.name), claimed.get(field.name), field) for field in fields)


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
        return _("An answer is right if it equals an accepted one.")


def require_answers(prediction: Values, fields: Sequence[Field]) -> None:
    """Raise `Unavailable` where the prediction lacks one of these fields or holds what it cannot."""
    for field in fields:
        if not isinstance(prediction, Mapping) or field.name not in prediction:
            raise _without(field)
        if not field.is_answer(prediction[field.name]):
            raise Unavailable(
                _(
                    "The model's “%(name)s” %(no_answer)s. Tell the task's owner.",
                    name=field.name,
                    no_answer=field.no_answer,
                )
            )
        if prediction[field.name] is None and field.required:
            raise _without(field)


def _without(field: Field) -> Unavailable:
    return Unavailable(_("The model's answer has no “%(name)s”. Tell the task's owner.", name=field.name))


EnsembleRule = Literal["any", "majority", "all"]


def ensemble_fooled(rule: EnsembleRule, flags: Iterable[bool | None]) -> bool | None:
    """Return whether an ensemble is fooled when `any`, a `majority` (more than half) or `all` of its members are.

    None where that is not known: a member is None, and it could still change the outcome. Raises ValueError for an
    empty ensemble or an unknown rule.
    """
    members = list(flags)
    if not members:
        raise ValueError("an ensemble has at least one member")
    needed = {"any": 1, "majority": len(members) // 2 + 1, "all": len(members)}
    if rule not in needed:
        raise ValueError(f"an ensemble is fooled when any, majority or all are, not {rule!r}")
    fooled, unknown = members.count(True), members.count(None)
    if fooled >= needed[rule]:
        return True
    return None if fooled + unknown >= needed[rule] else False
