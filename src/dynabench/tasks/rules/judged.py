"""Rules without a claimed answer: people or another model judge, a reply is chosen, or the model is unsure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from dynabench.kit.errors import Unavailable
from dynabench.kit.language import _
from dynabench.tasks.fields.base import NOTHING, Field, Values
from dynabench.tasks.fields.choice import Choice
from dynabench.tasks.fields.text import Text
from dynabench.tasks.rules.base import Judge, Rule, Unclaimed
from dynabench.tasks.section import Line, Markdown, Name, Setting, did_you_mean
from dynabench.tasks.words import answer_words, texts_of, word_f1

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
        inputs: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """Return whether the answer differs from the claimed one: used on benchmarks, where answers are not judged."""
        return not self.agrees(prediction, claimed, fields, inputs)

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Yield a problem for blind validation, in which validators see no model's answer and so cannot judge it."""
        yield from super().problems(config)
        if config.validation.mode != "judge":
            yield "rule", _("In this task validators judge the models' answers: set validate: {mode: judge}.")

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _("An answer is right if it equals an accepted one: answers are not judged here.")


class JudgedByAnnotator(JudgedRule):
    """The author sees the model's answer and says whether it is wrong; until then the outcome is unknown.

    Validators check the judgement.
    """

    rule: Literal["judged_by_annotator"] = Setting(
        "judged_by_annotator", description="Fooled when the example's author says that the answer is wrong."
    )
    judged_by: ClassVar[Judge | None] = "annotator"


class JudgedByValidators(JudgedRule):
    """The verdict of the votes says whether the model was wrong; before it, or where votes disagree, nobody knows."""

    rule: Literal["judged_by_validators"] = Setting(
        "judged_by_validators", description="Fooled when the verdict of those who check it is that the answer is wrong."
    )
    judged_by: ClassVar[Judge | None] = "validators"


Template = str
GROUPS = ("context", "input", "claim", "answer")
_PLACEHOLDER = re.compile(r"\{([a-z]+)\.([a-z][a-z0-9_]{0,39})\}")


class JudgedByModel(JudgedRule):
    """A model reads the example with the target's answer and says whether that is wrong.

    The judge is a classifier, whose labels are read, or a language model, whose text is read by how it begins. Its
    answer is recorded with its version, and compared with the verdicts of people (calibration).
    """

    rule: Literal["judged_by_model"] = Setting(
        "judged_by_model", description="Fooled when a judge model says that the answer is wrong."
    )
    judged_by: ClassVar[Judge | None] = "model"
    judge: Line = Setting(min_length=1, description="The judge model, NAME or NAME@VERSION; fixed with each round.")
    ask: dict[Name, Template] = Setting(
        min_length=1,
        max_length=20,
        description="What the judge is given, by its input field: text with {context.NAME}, {input.NAME}, {claim.NAME} "
        "(the author's answer) and {answer.NAME} (the target's).",
    )
    says_wrong: list[Line] = Setting(
        min_length=1, max_length=50, description="Labels of the judge, or beginnings of its text, that say wrong."
    )
    says_right: list[Line] = Setting(
        [], max_length=50, description="Those that say right; everything else then says nothing. Empty: all others."
    )

    def given_to_judge(self, config: "TaskConfig", parts: Mapping[str, Values]) -> dict[str, str]:
        """Return the inputs of the judge; `parts` holds the values of `context`, `input`, `claim` and `answer`."""
        fields = _fields(config)

        def filled(place: re.Match[str]) -> str:
            group, name = place.groups()
            field = fields.get((group, name))
            return field.in_words(parts[group].get(name)) if field else place[0]

        return {name: _PLACEHOLDER.sub(filled, template) for name, template in self.ask.items()}

    def verdict(self, judge_answer: Values) -> bool | None:
        """Return whether the judge's answer says wrong; None where it says neither."""
        texts = [str(value) for value in judge_answer.values() if isinstance(value, str)]
        if any(_begins(text, words) for text in texts for words in self.says_wrong):
            return True
        return (
            False
            if not self.says_right or any(_begins(text, beginning) for text in texts for beginning in self.says_right)
            else None
        )

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Places in templates stand for fields of the task, and the judge sees the answer that it judges."""
        yield from super().problems(config)
        fields = _fields(config)
        for name, template in self.ask.items():
            if len(template) > 20_000:
                yield f"ask.{name}", _("Write at most 20,000 characters.")
            for group, field_name in _PLACEHOLDER.findall(template):
                if (group, field_name) not in fields:
                    placeholders = [f"{first}.{second}" for first, second in fields]
                    yield (
                        f"ask.{name}",
                        _("There is no “%(group)s.%(of)s” to insert.", group=group, of=field_name)
                        + did_you_mean(f"{group}.{field_name}", placeholders),
                    )
        if not any(group == "answer" for template in self.ask.values() for group, _ in _PLACEHOLDER.findall(template)):
            yield "ask", _("The judge does not see the answer: use {answer.NAME} somewhere.")


def _fields(config: "TaskConfig") -> dict[tuple[str, str], Field]:
    groups: dict[str, Any] = {"context": config.context, "input": config.input}
    groups |= {"claim": config.answer, "answer": config.answer}
    return {(group, field.name): field for group in GROUPS for field in groups[group]}


def _begins(text: str, words: str) -> bool:
    """True where a text begins with these words; case, punctuation and articles are ignored."""
    text_words, first_words = answer_words(text), answer_words(words)
    return bool(first_words) and text_words[: len(first_words)] == first_words


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
        inputs: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """The picked option is not the claimed one, in any or all of the fields."""
        joined = all if self.combine == "all" else any
        both = [(prediction.get(field.name), claimed.get(field.name)) for field in fields]
        return bool(both) and joined(not self._picked(predicted, right, inputs) for predicted, right in both)

    def right(self, predicted: Any, accepted: Iterable[Any], field: Field, inputs: Values = NOTHING) -> bool:
        """Some accepted option is picked."""
        return any(
            predicted == accepted_answer or self._picked(predicted, accepted_answer, inputs)
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
                    _("Context and input have no such text that models get.") + did_you_mean(name, texts),
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
        inputs: Values = NOTHING,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """Return whether the answer's probability is under the bound.

        Raises Unavailable where the model returns none.
        """
        predicted = [prediction.get(field.name) for field in fields]
        if not probabilities or any(not isinstance(answer, str) or answer not in probabilities for answer in predicted):
            raise Unavailable(_("The model returned no probability for its answer. Tell the task's owner."))
        return any(probabilities[str(answer)] < self.below for answer in predicted)

    def unfit(self, field: Field) -> str:
        """Probabilities are those of options."""
        return "" if isinstance(field, Choice) else _("only the options of a choice have probabilities.")

    def problems(self, config: "TaskConfig") -> Iterator[tuple[str, str]]:
        """Models must tell probabilities, and they tell those of one field."""
        yield from super().problems(config)
        if not config.output.probabilities:
            yield "rule", _("Models must return probabilities: set output: {probabilities: true}.")
        if len(self.counting(config.answer)) > 1:
            yield "fields", _("Name the choice whose probabilities the models return.")

    @property
    def right_in_words(self) -> str:
        """A sentence that says when an answer counts as right."""
        return _("An answer is right if it equals an accepted one, whatever the model's confidence.")
