"""Check of a model: its steps, the report of them, and the messages, which pages find translated by `in_words`.

A report is made in a process of its own, and stored: it arrives as text, and each sentence is found again among these
messages."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Invalid, Problem
from dynabench.kit.language import Phrase, _, joined, recognised, translate
from dynabench.models.protocol import EXPLAIN_SECONDS, ModelCard, ModelOutput
from dynabench.models.samples import SampleInput
from dynabench.tasks.config import TaskConfig

STEPS = {
    "found": _("files"),
    "installed": _("installed"),
    "fits the task": _("fits the task"),
    "loads": _("loads"),
    "answers": _("answers"),
    "repeats": _("repeats"),
    "batches": _("batches"),
    "speed": _("speed"),
    "strips": _("explanations"),
    "rows": _("rows"),
    "learns": _("training"),
}
"""Titles of the steps on pages, by the names in reports."""
ALONE, AGAIN = _("alone, in a batch and in another order"), _("when asked again")
NOT_REACHED = _("not reached")
REFUSED = _("refused: %(reason)s")
FILES = _("%(files)s files, %(megabytes)s MB")
DESCRIBED = _("%(name)s: type %(kind)s, input %(inputs)s, output %(answer)s")
LACKING_BOTH = _(
    "Add summary and data to model.yaml: people choose models by what they are and what they were trained on."
)
LACKING = _("Add %(lacking)s to model.yaml: people choose models by what they are and what they were trained on.")
NEEDED = _("everything that models of type %(kind)s need")
UNSAID = _("it never answers %(unsaid)s")
ALLOWED = _("This is allowed; such examples always fool the model.")
FITTING = _("inputs, answer and labels are those of %(task)s")
LOADED_GROWN = _("in %(seconds)s s, using %(megabytes)s MB more memory")
LOADED = _("in %(seconds)s s")
PAID = _("each picture is drawn again and paid for")
BROKEN = _("%(broken)s of %(samples)s samples have no valid answer")
SAME = _("all %(samples)s samples, %(answers)s different answers: %(answer)s")
ANSWERED = _("all %(samples)s samples, %(answers)s different answers")
UNTRAINED = _("The answer is always the same: is the model trained?")
EQUAL = _("the same answers %(when)s (within %(gap)s)")
MOVED = _("%(answers)s answers differ %(when)s")
WIDE = _("probabilities differ by up to %(gap)s %(when)s")
SPEED_RESIDENT = _("p50 %(half)s ms, p95 %(most)s ms; %(rate)s answers/s in batches of 16; %(megabytes)s MB resident")
SPEED = _("p50 %(half)s ms, p95 %(most)s ms; %(rate)s answers/s in batches of 16")
LIMIT = _("annotators wait at most %(seconds)s s")
WORDLESS = _("it cannot explain which words mattered")
MOST_CAN = _("Most backends can; see the documentation of its type.")
STRIPS = _("After %(seconds)s s annotators see no explanation; a faster model or a shorter input helps.")
SILENT = _("%(name)s has not answered for %(seconds)s s.")
UNENDED = _("%(method)s has not ended within %(seconds)s s.")
LACKS_FIELDS = _("%(name)s needs the fields %(lacking)s, which the task lacks; it has %(given)s.")
NO_ANSWER = _("%(name)s answers %(answer)s, which is not an answer of the task; answers are %(known)s.")
OTHER_LABELS = _("%(name)s returns %(labels)s; the task's options are %(options)s.")
OTHER_FORM = _("%(name)s returns %(returned)s; the task's answer %(answer)s is %(wanted)s.")
NOT_DRAWING = _("%(name)s does not draw: this task needs models of type openai-images.")
NOT_CONVERSING = _(
    "%(name)s does not chat: this task needs language models of type openai or transformers with returns: text."
)
NOT_ASKED_TO_DRAW = _("%(name)s draws pictures, but this task has no drawing.")
OTHER_PICTURE = _("%(name)s answers %(answer)s; this task draws %(drawn)s.")
READS_PICTURE = _("A field that is drawn cannot be an input.")
WRONG_STRIP = _("%(method)s returned an invalid explanation: %(wrong)s")
NO_INPUT = _("%(name)s is not an input.")
OTHER_WORD = _("%(word)s at %(start)s does not match %(name)s there, or occurs twice.")
WRONG_WEIGHT = _("the weight of %(word)s is %(weight)s; it must be between -1 and 1.")
UNWEIGHED = _("%(names)s: no words have weights.")
WRONG_THINGS = _("%(count)s errors in %(file)s")
ALL_ROWS = _("all %(count)s rows have an answer")
ROWS = _("%(count)s rows")
SECONDS_LONG = _("The check was stopped after %(seconds)s s.")
MEMORY = _("The process used %(used)s MiB of memory; the limit is %(memory)s MiB.")
CRASHED = _("The model's code crashed (%(name)s); see the log for details.")
ENDED = _("The check ended early with status %(status)s; see the log for details.")
# Why a child process died (`kit.child_process`); the two sentences above are those of reports from before.
PROCESS_CRASHED = _("The process crashed (%(name)s); see the log for details.")
PROCESS_ENDED = _("The process ended early with status %(status)s; see the log for details.")
ENTERED = _("%(name)s %(version)s was already submitted for this task and has not changed.")

STEP_REMEDIES = {
    "found": _("Check the spelling, and that the named files can be read from here."),
    "model.yaml": _("Correct model.yaml; `dynabench model new` writes a valid one with comments."),
    "installed": _("Install what the message names; `dynabench model kinds` lists what is installed."),
    "fits the task": _("In model.yaml use the task's names for inputs, answer and labels."),
    "loads": _("The weights must belong to this model.yaml; the message says what does not fit."),
    "answers": _("Every allowed input needs an answer; the message says what was wrong."),
    "batches": _("No row may depend on its neighbours: mask the padding, keep the order, keep no state between calls."),
    "repeats": _("Set a seed or temperature 0 and switch dropout off, so that a recorded answer can be reproduced."),
    "speed": _("Declare the time as `seconds:` in model.yaml, or make the model faster: shorter inputs, int8, ONNX."),
}
"""What to do about a step that failed; `STRIPS` is that of strips."""

WITH_VALUES = (
    FILES, DESCRIBED, LACKING, NEEDED, UNSAID, FITTING, LOADED_GROWN, LOADED, BROKEN, SAME, ANSWERED, EQUAL, MOVED,
    WIDE, SPEED_RESIDENT, SPEED, LIMIT, STRIPS, SILENT, UNENDED, LACKS_FIELDS, NO_ANSWER, OTHER_LABELS, OTHER_FORM,
    NOT_DRAWING, NOT_CONVERSING, NOT_ASKED_TO_DRAW, OTHER_PICTURE, WRONG_STRIP, NO_INPUT, OTHER_WORD, WRONG_WEIGHT,
    UNWEIGHED, WRONG_THINGS, ALL_ROWS, ROWS, SECONDS_LONG, MEMORY, CRASHED, ENDED, PROCESS_CRASHED,
    PROCESS_ENDED, ENTERED, REFUSED,
)  # fmt: skip
LONGEST = 4_000
"""Characters of a message that are looked through; longer ones are logs and stay as they are."""


def step_title(name: str) -> str:
    """Return the title of a step on a page, in its language; a step without one, such as `model.yaml`, has its name."""
    return translate(STEPS.get(name, name))


def in_words(text: str) -> str:
    """Return the text of a check, each line with its translation where there is one.

    Texts of more than `LONGEST` characters are logs and stay as they are.
    """
    return text if len(text) > LONGEST else joined("\n", (_line(line) for line in text.split("\n")))


def _line(text: str) -> str:
    phrase = recognised(text, WITH_VALUES)
    if isinstance(phrase, Phrase):
        # sentences without values are in the catalogues as they are: so are those within, such as when answers differ
        values = {name: _line(value) if isinstance(value, str) else value for name, value in phrase.values.items()}
        return Phrase(phrase.message, phrase.plural, phrase.number, values)
    return Phrase(text, "", None, {}) if text.strip() else text


LINES = 20
"""Lines of a model's log that are told."""


class StepState(StrEnum):
    """States of a step of a check; a warning does not keep a model from passing."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class ModelCheckStep:
    """One thing that was looked at: what was found, what to do about it, figures, and the log's last lines."""

    name: str
    state: StepState
    told: str
    remedy: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    log: tuple[str, ...] = ()


@dataclass(frozen=True)
class ModelCheckReport:
    """All steps of a check; `model` and `version` are empty where the folder could not be read."""

    reference: str
    task: str
    model: str
    version: str
    steps: tuple[ModelCheckStep, ...]

    @property
    def passed(self) -> bool:
        """Return whether no step failed; warnings do not count."""
        return not self.failures

    @property
    def failures(self) -> list[ModelCheckStep]:
        """The steps that failed."""
        return [step for step in self.steps if step.state == StepState.FAILED]

    @property
    def warnings(self) -> list[ModelCheckStep]:
        """The steps that went well enough."""
        return [step for step in self.steps if step.state == StepState.WARNING]

    def step(self, name: str) -> ModelCheckStep:
        """The step of this name; raises KeyError."""
        return {step.name: step for step in self.steps}[name]

    def summary_line(self) -> str:
        """The outcome in a line."""
        name = f"{self.model} {self.version}" if self.model else self.reference
        if self.failures:
            return f"{name} cannot be a target of {self.task} yet: {', '.join(step.name for step in self.failures)}."
        some = f" with {len(self.warnings)} to look at: {', '.join(s.name for s in self.warnings)}"
        return f"{name} passes for {self.task}{some if self.warnings else ''}."

    def document(self) -> dict[str, Any]:
        """The report as JSON."""
        return {**asdict(self), "passed": self.passed, "told": self.summary_line()}


def last_lines(log: Any) -> tuple[str, ...]:
    """The end of a log that is a text or a list of lines."""
    lines = log.splitlines() if isinstance(log, str) else [str(line) for line in log or ()]
    return tuple(line.rstrip() for line in lines[-LINES:])


Progress = Callable[[str], None]


class Failed(Exception):
    """A step that failed, with what to do about it."""

    def __init__(self, message: str, remedy: str, **details: Any) -> None:
        super().__init__(message)
        self.remedy, self.details = remedy, details


@dataclass
class Trial:
    """A model on its way through the steps."""

    config: TaskConfig
    seconds: float
    progress: Progress
    folder: Path | None = None
    card: ModelCard | None = None
    model: Any = None
    steps: list[ModelCheckStep] = field(default_factory=list)
    outputs: dict[int, ModelOutput] = field(default_factory=dict)
    samples: Sequence[SampleInput] = ()

    def add(self, name: str, state: StepState, message: str, remedy: str = "", **details: Any) -> None:
        """Note a step that has ended."""
        self.steps.append(
            ModelCheckStep(name, state, message, remedy, details, self._log() if state == StepState.FAILED else ())
        )

    def _log(self) -> tuple[str, ...]:
        """The end of what the model wrote, where its backend keeps that."""
        log = getattr(self.model, "log", None)
        with suppress(Exception):  # a log that cannot be had must not hide what failed
            return last_lines(log() if callable(log) else log)
        return ()


def failed(trial: Trial, name: str, error: Exception) -> None:
    """Note that a step ended with this error, with the log that the error or the model brings."""
    if isinstance(error, Failed):
        trial.add(name, StepState.FAILED, str(error), error.remedy, **error.details)
        return
    log = last_lines(getattr(error, "log", None) or getattr(error, "extra", {}).get("log"))
    details = {"fields": error.fields} if isinstance(error, Invalid) else {}
    trial.add(name, StepState.FAILED, describe_error(error), REMEDIES[name], **details)
    if log:
        trial.steps[-1] = replace(trial.steps[-1], log=log)


def describe_error(error: BaseException) -> str:
    """An exception in a line."""
    if isinstance(error, Invalid):
        return REFUSED % {"reason": error.detail}
    return error.detail if isinstance(error, Problem) else f"{type(error).__name__}: {error}"


REMEDIES = {**STEP_REMEDIES, "strips": STRIPS % {"seconds": f"{EXPLAIN_SECONDS:g}"}}
