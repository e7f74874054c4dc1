"""The onboarding of a task: screening, worked examples, practice and a quiz before people write or check.

Right answers stand in this section alone: it is no part of what `TaskConfig.public` tells, and releases leave it out.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import model_validator

from dynabench.kit.errors import Invalid
from dynabench.kit.language import _
from dynabench.tasks.section import Line, Markdown, Name, Section, Setting

if TYPE_CHECKING:
    from dynabench.tasks.config import TaskConfig

ActivityName = Literal["write", "check"]
Activities = Annotated[list[ActivityName], Setting(min_length=1, max_length=2)]
Option = Annotated[Line, Setting(min_length=1)]
KEY = "onboarding"


class WorkedExample(Section):
    """An example that is shown as a card, with the reason why it is good or not."""

    good: bool = Setting(description="Whether people should write like this.")
    context: dict[str, Any] = Setting({}, description="Values of the context's fields.")
    input: dict[str, Any] = Setting(description="Values of the input's fields.")
    answer: dict[str, Any] = Setting(description="Values of the answer's fields.")
    explanation: Markdown = Setting(min_length=1, description="Why it is good, or what is wrong with it.")


class PracticeItem(Section):
    """An example that people answer for practice; they are told the right answer afterwards."""

    context: dict[str, Any] = Setting({}, description="Values of the context's fields.")
    input: dict[str, Any] = Setting(description="Values of the input's fields.")
    answer: dict[str, Any] = Setting(description="The right answer, shown after answering.")
    explanation: Markdown = Setting("", description="Why that is the answer.")


class QuizQuestion(Section):
    """A question with one right option."""

    name: Name = Setting(description="Name of the question in figures; keep it when the wording changes.")
    question: Markdown = Setting(min_length=1, description="What is asked; markdown.")
    options: list[Option] = Setting(min_length=2, max_length=8, description="The answers to choose from.")
    right: Line = Setting(description="The option that is right; shown after answering.")
    explanation: Markdown = Setting("", description="Why it is right; shown after answering.")
    activities: Activities = Setting(["write", "check"], description="The activities whose quiz may ask it.")

    @model_validator(mode="after")
    def _options_differ(self) -> "QuizQuestion":
        _require_options(self.options, [self.right])
        return self


class ScreeningQuestion(Section):
    """A question about the person; some of its answers end the onboarding, politely."""

    name: Name = Setting(description="Name of the question in figures.")
    question: Markdown = Setting(min_length=1, description="What is asked; markdown.")
    options: list[Option] = Setting(min_length=2, max_length=20, description="The answers to choose from.")
    accept: list[Option] = Setting(min_length=1, max_length=20, description="The options with which people go on.")

    @model_validator(mode="after")
    def _options_differ(self) -> "ScreeningQuestion":
        _require_options(self.options, self.accept)
        return self


class Onboarding(Section):
    """The steps that people go through before they write or check for the task."""

    required: bool = Setting(True, description="Nobody writes or checks before; false: people may go through it.")
    activities: Activities = Setting(["write", "check"], description="The activities that it is for.")
    version: int = Setting(
        1, ge=1, le=10_000, description="A higher number ends the qualifications that were earned before."
    )
    valid_days: int | None = Setting(None, ge=1, le=3650, description="Days until a qualification ends; empty: never.")
    screening: list[ScreeningQuestion] = Setting([], max_length=10, description="Questions about the person.")
    examples: list[WorkedExample] = Setting([], max_length=12, description="Worked examples, good and bad ones.")
    practice: list[PracticeItem] = Setting([], max_length=12, description="Examples to answer, with feedback.")
    questions: list[QuizQuestion] = Setting([], max_length=200, description="The bank that a quiz is drawn from.")
    drawn: int = Setting(5, ge=1, le=50, description="Questions that are drawn for a quiz.")
    pass_mark: int = Setting(4, ge=1, le=50, description="Right answers that pass the quiz.")
    attempts: int = Setting(3, ge=1, le=20, description="Attempts at the quiz that a person has.")
    wait_minutes: int = Setting(0, ge=0, le=60 * 24 * 30, description="Minutes between a failed attempt and the next.")

    def questions_for(self, activity: str) -> list[QuizQuestion]:
        """Return the questions that a quiz for an activity may ask."""
        return [question for question in self.questions if activity in question.activities]

    def question(self, name: str) -> QuizQuestion:
        """Return the question of this name; raises KeyError."""
        return {question.name: question for question in self.questions}[name]


def _require_options(options: Sequence[str], chosen: Sequence[str]) -> None:
    if len(set(options)) < len(options):
        raise ValueError(_("An option is listed twice."))
    if unknown := [option for option in chosen if option not in options]:
        raise ValueError(_("“%(option)s” is not one of the options.", option=unknown[0]))


def onboarding_problems(config: "TaskConfig") -> Iterator[tuple[str, str]]:
    """Yield path and message of what the onboarding of a config refers to and is not there."""
    section = config.onboarding
    if section is None:
        return
    yield from _names(section)
    yield from _quiz(section)
    items: list[tuple[str, WorkedExample | PracticeItem]] = [
        (f"{KEY}.examples.{index}", item) for index, item in enumerate(section.examples)
    ]
    items += [(f"{KEY}.practice.{index}", item) for index, item in enumerate(section.practice)]
    if items and (config.media or config.chat or config.drawing):
        yield (
            items[0][0].rpartition(".")[0],
            _("Worked examples and practice are for tasks without files, conversations and drawn pictures."),
        )
        return
    for path, item in items:
        yield from ((f"{path}.{key}", message) for key, message in item_problems(config, item).items())


def _names(section: Onboarding) -> Iterator[tuple[str, str]]:
    for group in ("screening", "questions"):
        names = [question.name for question in getattr(section, group)]
        for index, name in enumerate(names):
            if name in names[:index]:
                path = f"{KEY}.{group}.{index}.name"
                yield path, _("Another question already has the name “%(name)s”.", name=name)


def _quiz(section: Onboarding) -> Iterator[tuple[str, str]]:
    if not section.questions:
        return
    for activity in section.activities:
        number = len(section.questions_for(activity))
        if 0 < number < section.drawn:
            yield (
                f"{KEY}.drawn",
                _(
                    "The bank has only %(number)s questions for the activity “%(activity)s”.",
                    number=number,
                    activity=activity,
                ),
            )
    if section.pass_mark > section.drawn:
        yield f"{KEY}.pass_mark", _("It is above the number of questions that are drawn.")


def item_problems(config: "TaskConfig", item: WorkedExample | PracticeItem) -> Mapping[str, str]:
    """Return messages by dotted name for values that the task's own forms would refuse."""
    try:
        context = config.clean_context(item.context)
        written = config.clean_input(item.input, context)
        config.clean_answer(item.answer, context=context, input=written)
    except Invalid as problem:
        fields: dict[str, str] = problem.fields
        return fields
    return {}
