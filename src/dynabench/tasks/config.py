"""The config of a task: its fields, the inputs of models, the fooling rule and the validation."""

from collections.abc import Iterable, Mapping
from functools import cached_property
from random import Random
from typing import Annotated, Any, cast

from pydantic import StringConstraints, ValidationError, model_validator
from rapidfuzz.distance import Levenshtein

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.tasks import config_checks, reading
from dynabench.tasks.assistant_sections import Assistant
from dynabench.tasks.conditions import ConditionFacts, any_condition_holds
from dynabench.tasks.fields import AnyField, Chat, Choice, Drawing, Field, Image, MediaField, Text, Values, innermost
from dynabench.tasks.fields.base import clean_group, read_group_form
from dynabench.tasks.fields.hidden import Hidden
from dynabench.tasks.harm_sections import Harms
from dynabench.tasks.onboarding import Onboarding
from dynabench.tasks.rules import AnyRule, Differs
from dynabench.tasks.rules.base import require_answers
from dynabench.tasks.section import Line, Markdown, Section, Setting
from dynabench.tasks.sections import (
    Annotators,
    ContextSettings,
    DataSettings,
    Instructions,
    MetricSettings,
    NearDuplicateSettings,
    OutputSettings,
    PerturbSettings,
    ReleaseSettings,
    Start,
    SubmissionSettings,
    Training,
    ValidationSettings,
)

TaskId = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]{0,58}[a-z0-9]$")]
_GROUPS = ("context", "input", "answer", "ask", "validation")


class TaskConfig(Section):
    """One version of a task's config. Made by `parse`; immutable.

    Values are dictionaries by field name. The `clean_*` methods return their stored form or raise `errors.Invalid`
    with keys such as `input.hypothesis`.
    """

    id: TaskId = Setting(description="Name in addresses: lower-case letters, digits and hyphens.")
    name: Line = Setting(min_length=1, description="Name that people read.")
    description: Markdown = Setting("", description="What the task is and why, in a sentence or two; markdown.")
    content_warning: Markdown = Setting("", description="Shown before anything of the task is.")
    terms: Markdown = Setting("", description="What people agree to beyond the platform's own terms.")
    instructions: Instructions = Instructions()
    onboarding: Onboarding | None = Setting(None, description="What people go through before they write or check.")
    context: list[AnyField] = Setting([], max_length=20, description="What the annotator is given.")
    input: list[AnyField] = Setting(min_length=1, max_length=20, description="What the annotator writes.")
    answer: list[AnyField] = Setting(min_length=1, max_length=10, description="What models return and people claim.")
    link: list[Hidden] = Setting([], max_length=20, description="What the address by which a person comes tells.")
    start: Start = Setting(default_factory=Start)
    perturb: PerturbSettings | None = Setting(
        None, description="Annotators may edit their own examples so that one flips."
    )
    annotators: Annotators = Setting("anyone", description="Who writes and checks: anyone with an account, or invited.")
    output: OutputSettings = Setting(default_factory=OutputSettings)
    fooled: AnyRule = Setting(default_factory=Differs, description="When a model counts as fooled.")
    ask: list[AnyField] = Setting([], max_length=20, description="What the annotator is asked after the answer.")
    validation: ValidationSettings = Setting(default_factory=ValidationSettings, alias="validate")
    contexts: ContextSettings = Setting(default_factory=ContextSettings)
    metrics: MetricSettings = Setting(default_factory=MetricSettings)
    submissions: SubmissionSettings = Setting(default_factory=SubmissionSettings)
    training: Training | None = Setting(None, description="People submit training sets instead of models.")
    harms: Harms | None = Setting(None, description="Which answers say what harm a model did, and how bad it is.")
    data: DataSettings = Setting(default_factory=DataSettings)
    near_duplicates: NearDuplicateSettings = Setting(default_factory=NearDuplicateSettings)
    assistant: Assistant = Setting(default_factory=Assistant)
    release: ReleaseSettings = Setting(default_factory=ReleaseSettings)

    @model_validator(mode="before")
    @classmethod
    def _short_forms(cls, raw: Any) -> Any:
        return config_checks.expand_short_forms(raw)

    @model_validator(mode="after")
    def _joined(self) -> "TaskConfig":
        config_checks.check_references(self)
        return self

    @classmethod
    def parse(cls, text: str, *, stored: bool = False) -> "TaskConfig":
        """Return the config in YAML `text`. Raises Invalid with dotted paths, messages and line numbers.

        A `stored` text was accepted when it was saved: checks that depend on the load of the machine, such as the
        speed of a pattern, are not repeated.
        """
        raw, lines = reading.read_config(text)
        try:
            return cls.model_validate(raw, context={"stored": stored})
        except ValidationError as error:
            raise reading.explain_errors(error, lines) from None

    @property
    def goal(self) -> str:
        """`assigned` where annotators get an answer to write for, else `chosen`."""
        return "assigned" if self._assigned() else "chosen"

    @property
    def chat(self) -> Chat | None:
        """The conversation that annotators have with the round's models, where the task has one."""
        return next((field for field in self.input if isinstance(field, Chat)), None)

    @property
    def compares(self) -> bool:
        """True where people compare replies of models, so that no model can be fooled."""
        return self.chat is not None and not self.chat.claims

    @property
    def drawing(self) -> Drawing | None:
        """The picture that the round's models draw of what annotators write, where the task has one."""
        return next((field for field in self.input if isinstance(field, Drawing)), None)

    @property
    def claims(self) -> dict[str, str]:
        """The answers that models stand for by replying or drawing; empty where models give answers themselves."""
        live = self.chat or self.drawing
        return dict(live.claims) if live else {}

    def fields(self, group: str) -> list[Field]:
        """The fields of `context`, `input`, `answer`, `ask` or `validation`."""
        if group not in _GROUPS:
            raise KeyError(group)
        return self.validation.ask if group == "validation" else cast("list[Field]", getattr(self, group))

    def form(self, group: str, items: Iterable[tuple[str, object]]) -> dict[str, object]:
        """Return raw values of a group, ready to be cleaned, from an HTML form's (name, text) pairs."""
        return read_group_form(group, self.fields(group), items)

    def read_texts(self, group: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return raw values of a group, ready to be cleaned, from a table's row.

        Texts may stand for numbers or lists.
        """
        fields = {field.name: field for field in self.fields(group)}
        return {
            name: fields[name].from_text(value) if isinstance(value, str) and name in fields else value
            for name, value in values.items()
        }

    def clean_context(self, values: object) -> dict[str, Any]:
        """A context's values."""
        return clean_group("context", self.context, values)

    def clean_link(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Return the values that the task expects from an address; other parameters are ignored."""
        return clean_group("link", self.link, {field.name: parameters.get(field.key) or None for field in self.link})

    def clean_input(self, values: object, context: Values | None = None) -> dict[str, Any]:
        """Return the annotator's input, written for `context`."""
        return clean_group("input", self.input, values, context, ConditionFacts(values=context or {}))

    def clean_words(self, values: object, context: Values | None = None) -> dict[str, Any]:
        """Return only the texts of the input, from which models draw; other values are left out."""
        texts = [field for field in self.input if isinstance(field, Text)]
        text_values = {field.name: values.get(field.name) for field in texts} if isinstance(values, Mapping) else values
        return clean_group("input", texts, text_values, context, ConditionFacts(values=context or {}))

    def clean_answer(
        self, values: object, goal: Values | None = None, context: Values | None = None, input: Values | None = None
    ) -> dict[str, Any]:
        """Return the claimed answer, which must equal that of `goal` for each field in it."""
        around = {**(context or {}), **(input or {})}
        answer = clean_group("answer", self.answer, values, around, ConditionFacts(values=around))
        goal = goal or {}
        choices = [field for field in self.answer if isinstance(field, Choice) and field.name in goal]
        labels = {field.name: field.label_of(goal[field.name]) for field in choices}
        missed = {
            f"answer.{name}": _("Your goal is “%(label)s”, so that must be the answer.", label=label)
            for name, label in labels.items()
            if answer.get(name) != goal[name]
        }
        if missed:
            raise Invalid(missed)
        return answer

    def clean_ask(
        self,
        values: object,
        *,
        input: Values,
        fooled: bool | None,
        context: Values | None = None,
        answer: Values | None = None,
        draft: bool = False,
    ) -> dict[str, Any]:
        """Return the annotator's answers to the questions after the outcome; fields that do not apply are dropped.

        While the outcome is not known, fields for either outcome do not apply. Of a `draft`, required fields may still
        be empty.
        """
        around = {**(context or {}), **input}
        facts = ConditionFacts(fooled, None, {**around, **(answer or {})})
        return clean_group("ask", self.ask, values, around, facts, draft=draft)

    def required_questions(self, values: Values, *, fooled: bool | None, around: Values) -> list[str]:
        """Return the names of the required fields after the outcome that apply, given the clean `values` of a draft.

        `around` holds the values of context, input and answer.
        """
        facts = ConditionFacts(fooled, None, {**around, **values})
        return [field.name for field in self.ask if field.required and any_condition_holds(field.when, facts)]

    def unfinished_answers(self, values: Values, *, around: Values) -> list[str]:
        """Return the names of the questions after the outcome whose clean answers in a draft still lack a part."""
        answered = [field for field in self.ask if field.name in values]
        return [field.name for field in answered if not field.is_finished(values[field.name], {**around, **values})]

    def clean_validation(
        self,
        values: object,
        *,
        vote: str,
        input: Values,
        context: Values | None = None,
        answer: Values | None = None,
        fooled: bool | None = None,
    ) -> dict[str, Any]:
        """Return a validator's answers beside the `vote`; fields that do not apply are dropped.

        `answer` is the claim.
        """
        around = {**(context or {}), **input}
        facts = ConditionFacts(fooled, vote, {**around, **(answer or {})})
        return clean_group("validation", self.validation.ask, values, around, facts)

    @property
    def model_context(self) -> list[Field]:
        """The context's fields that models get: all but texts used only as prompts, and pictures to choose from."""
        left_out = self._prompts() | self.offered
        return [field for field in self.fields("context") if field.name not in left_out]

    @cached_property
    def features(self) -> frozenset[str]:
        """Names of the features that take part when an example is recorded; see `collection.drafts`."""
        conditions = {
            "media": self.media or self.drawing is not None,
            "conversation": self.chat is not None,
            "drawing": self.drawing is not None,
            "judge": self.fooled.judged_by == "model",
            "near_duplicates": self.near_duplicates.do != "nothing",
        }
        return frozenset(name for name, value in conditions.items() if value)

    @property
    def media(self) -> bool:
        """True where any field holds pictures, sounds or files."""
        return any(isinstance(field, MediaField) for group in _GROUPS for field in innermost(self.fields(group)))

    @property
    def reads_text(self) -> bool:
        """True where models get a text whose words they can be asked about: a conversation has none."""
        alive = self.chat is not None or self.drawing is not None
        return not alive and any(isinstance(field, Text) for field in [*self.model_context, *self.input])

    @property
    def reads_pictures(self) -> bool:
        """True where models get a picture whose parts they can be asked about."""
        return self.drawing is None and any(isinstance(field, Image) for field in [*self.model_context, *self.input])

    def model_pictures(self, context: Values, input: Values) -> dict[str, str]:
        """Return the SHA-256 of each picture that models get, by the name of its field."""
        references = {
            name: value for name, value in self.model_inputs(context, input).items() if isinstance(value, dict)
        }
        names = [field.name for field in [*self.model_context, *self.input] if isinstance(field, Image)]
        return {name: str(references[name]["media"]) for name in names if "media" in references.get(name, {})}

    @property
    def offered(self) -> frozenset[str]:
        """Names of the context's pictures that people only choose from."""
        return frozenset(name for field in self.input if isinstance(field, Image) for name in field.choose_from)

    def model_inputs(self, context: Values, input: Values) -> dict[str, Any]:
        """Return the inputs of models: the context, without texts used only as prompts, and the input."""
        inputs = {field.name: field.serialise(context.get(field.name)) for field in self.model_context}
        return inputs | {field.name: field.serialise(input.get(field.name)) for field in self.input}

    def shown_context(self, context: Values) -> dict[str, Any]:
        """Return the context's values that people are shown: without texts used only as prompts."""
        return {name: value for name, value in context.items() if name not in self._prompts()}

    def draw_goal(self, rng: Random) -> dict[str, Any] | None:
        """An answer drawn at random for each assigned field; None where annotators choose."""
        return {field.name: rng.choice(field.values) for field in self._assigned()} or None

    def draw_flip(self, rng: Random, answer: Values) -> dict[str, Any]:
        """Return the goal of a perturbation.

        Another value of the flip field, and other assigned values as in `answer`.

        Raises ValueError where the task has no perturbations.
        """
        if self.perturb is None:
            raise ValueError("this task has no perturbations")
        flip = self.perturb.flip
        [options] = [field.values for field in self.answer if isinstance(field, Choice) and field.name == flip]
        assigned = {field.name: answer[field.name] for field in self._assigned() if field.name in answer}
        return assigned | {flip: rng.choice([value for value in options if value != answer.get(flip)])}

    def draw_start(self, rng: Random, but: str = "") -> str:
        """One of the task's kinds of start other than `but`, each equally likely; `but` where there is no other."""
        return rng.choice([kind for kind in self.start.kinds if kind != but] or self.start.kinds)

    def edit_distance(self, initial: Values, written: Values) -> int:
        """Return the number of characters inserted, removed or replaced in all text fields (Levenshtein)."""
        names = [field.name for field in self.input if isinstance(field, Text)]
        return sum(Levenshtein.distance(initial.get(name) or "", written.get(name) or "") for name in names)

    def initial(self, start: str, context: Values) -> dict[str, Any]:
        """Return the initial values of input fields for a prompt start; {} for others."""
        if start != "prompt":
            return {}
        return {field: context[source] for field, source in self.start.prompt.items() if source in context}

    def fooled_by(
        self,
        prediction: Values,
        claimed: Values,
        inputs: Values | None = None,
        probabilities: Mapping[str, float] | None = None,
    ) -> bool:
        """Return whether the model that answered `prediction` to `inputs` was fooled, if `claimed` is right.

        `probabilities` are those of the options, where the model returns them. Raises Unavailable where the
        prediction lacks an answer field or holds an invalid value: a model that does not answer the question is
        broken, not fooled.
        """
        counting = self.fooled.counting(self.answer)
        require_answers(prediction, counting)
        return self.fooled.fooled(prediction, claimed, counting, inputs or {}, probabilities)

    def agrees(self, blind: Values, claimed: Values, inputs: Values | None = None) -> bool:
        """Return whether a validator's blind answer is the claimed one, by the rule that models are measured with."""
        return self.fooled.agrees(blind, claimed, self.fooled.counting(self.answer), inputs or {})

    def public(self) -> dict[str, Any]:
        """Return the task as the API shows it: texts, fields with their options, and the rules."""
        described = self.model_dump(
            mode="json",
            by_alias=True,
            exclude={"link": True, "assistant": {"model"}, "onboarding": True, "validation": {"controls"}},
        )
        for group in ("context", "input", "answer", "ask"):
            described[group] = [field.public() for field in self.fields(group)]
        described["validate"]["ask"] = [field.public() for field in self.validation.ask]
        return {**described, "goal": self.goal}

    def _assigned(self) -> list[Choice]:
        return [field for field in self.answer if isinstance(field, Choice) and field.goal == "assigned"]

    def _prompts(self) -> frozenset[str]:
        return frozenset(self.start.prompt.values())
