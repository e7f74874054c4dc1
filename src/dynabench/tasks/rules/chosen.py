"""Fooled when the model picks a wrong option."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from dynabench.kit.language import _
from dynabench.tasks.answer_words import answer_words, texts_of, word_f1
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.fields.choice import Choice
from dynabench.tasks.fields.text import Text
from dynabench.tasks.rules.base import Rule
from dynabench.tasks.section import Name, Setting, did_you_mean

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig

_MARK = re.compile(r"^\W*(?:option|answer)?\W*([a-z]|[0-9]{1,2})\W*$", re.IGNORECASE)


class ChosenRule(Rule):
    """Multiple choice for generated answers: of the right text and hard negatives the model must pick the right one.

    The options are texts of the example, as in SWAG (Zellers et al. 2018), where wrong endings are those that
    models take for right. A generated answer picks the option that it names (`B`, `2`, the field's name), whose
    words it has, or else the one whose words it shares most, by word F1; where two are equally near it picks
    none. A claimed answer that is no option becomes another option.
    """

    rule: Literal["chosen"] = Setting("chosen", description="Fooled when the model picks a wrong option.")
    options: list[Name] = Setting(
        min_length=1, max_length=20, description="Text fields of context or input that are the options."
    )

    def fooled(
        self,
        prediction: Values,
        claimed: Values,
        fields: Sequence[Field],
        given: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """The picked option is not the claimed one, in any or all of the fields."""
        joined = all if self.combine == "all" else any
        both = [(prediction.get(field.name), claimed.get(field.name)) for field in fields]
        return bool(both) and joined(not self._picked(predicted, right, given) for predicted, right in both)

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field, given: Values = NOTHING) -> bool:
        """Some accepted option is picked."""
        return any(
            predicted == accepted_answer or self._picked(predicted, accepted_answer, given)
            for accepted_answer in accepted
        )

    def differs(self, predicted: Any, claimed: Any, field: Field) -> bool:
        """Return whether the words differ: the comparison that is possible without the options."""
        return not self._picked(predicted, claimed, NOTHING)

    def unfit(self, field: Field) -> str:
        """Answers are texts, or the options' names."""
        return "" if isinstance(field, Text | Choice) else _("“chosen” takes texts, or a choice of the options' names.")

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Options are texts that models get."""
        yield from super().problems(config)
        texts = [field.name for field in [*config.model_context, *config.input] if isinstance(field, Text)]
        for index, name in enumerate(self.options):
            if name not in texts:
                yield (
                    f"options.{index}",
                    _("There is no such text in context or input that models get.") + did_you_mean(name, texts),
                )

    @property
    def reads(self) -> tuple[str, ...]:
        """The options."""
        return tuple(self.options)

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _("An answer is right if it picks an accepted option.")

    def _picked(self, predicted: Any, claimed: Any, inputs: Values) -> bool:
        options = {name: str(inputs[name]) for name in self.options if inputs.get(name)}
        predicted_texts, right = texts_of(predicted), texts_of(claimed)
        if not predicted_texts or not right:
            return False
        names = list(options)
        right_option = pick_option(right[0], options, exactly=True)
        if right_option is None:
            options, right_option = options | {"": right[0]}, ""
            names.append("")
        return pick_option(predicted_texts[0], {name: options[name] for name in names}) == right_option


def pick_option(answer_text: str, options: Mapping[str, str], exactly: bool = False) -> str | None:
    """Return the name of the option that a text picks; None for none.

    With `exactly`, merely similar words do not count.
    """
    words = answer_words(answer_text)
    same = [name for name, text in options.items() if answer_words(text) == words]
    if same or answer_text in options:
        return same[0] if same else answer_text
    if mark := _MARK.match(answer_text):
        place = int(mark[1]) - 1 if mark[1].isdecimal() else ord(mark[1].lower()) - ord("a")
        return list(options)[place] if 0 <= place < len(options) else None
    if exactly:
        return None
    shared = {name: word_f1(answer_text, text) for name, text in options.items()}
    most = max(shared.values(), default=0.0)
    nearest = [name for name, share in shared.items() if share == most]
    return nearest[0] if most > 0 and len(nearest) == 1 else None
