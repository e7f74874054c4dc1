"""Check of a model: its steps, the report of them, and a model on its way through them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Invalid, Problem
from dynabench.models import check_words as words
from dynabench.models.client import EXPLAIN_SECONDS
from dynabench.models.protocol import Card, Output
from dynabench.models.samples import Sample
from dynabench.tasks.config import TaskConfig

LINES = 20
"""Lines of a model's log that are told."""


class StepState(StrEnum):
    """States of a step of a check; a warning does not keep a model from passing."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Step:
    """One thing that was looked at: what was found, what to do about it, figures, and the log's last lines."""

    name: str
    state: StepState
    told: str
    remedy: str = ""
    details: dict[str, Any] = field(default_factory=dict)
    log: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """All steps of a check; `model` and `version` are empty where the folder could not be read."""

    reference: str
    task: str
    model: str
    version: str
    steps: tuple[Step, ...]

    @property
    def passed(self) -> bool:
        """Return whether no step failed; warnings do not count."""
        return not self.failures

    @property
    def failures(self) -> list[Step]:
        """The steps that failed."""
        return [step for step in self.steps if step.state == StepState.FAILED]

    @property
    def warnings(self) -> list[Step]:
        """The steps that went well enough."""
        return [step for step in self.steps if step.state == StepState.WARNING]

    def step(self, name: str) -> Step:
        """The step of this name; raises KeyError."""
        return {step.name: step for step in self.steps}[name]

    def told(self) -> str:
        """The outcome in a line."""
        name = f"{self.model} {self.version}" if self.model else self.reference
        if self.failures:
            return f"{name} cannot be a target of {self.task} yet: {', '.join(step.name for step in self.failures)}."
        some = f" with {len(self.warnings)} to look at: {', '.join(s.name for s in self.warnings)}"
        return f"{name} passes for {self.task}{some if self.warnings else ''}."

    def document(self) -> dict[str, Any]:
        """The report as JSON."""
        return {**asdict(self), "passed": self.passed, "told": self.told()}


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
    card: Card | None = None
    model: Any = None
    steps: list[Step] = field(default_factory=list)
    outputs: dict[int, Output] = field(default_factory=dict)
    samples: Sequence[Sample] = ()

    def add(self, name: str, state: StepState, message: str, remedy: str = "", **details: Any) -> None:
        """Note a step that has ended."""
        self.steps.append(Step(name, state, message, remedy, details, self._log() if state == StepState.FAILED else ()))

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
    trial.add(name, StepState.FAILED, told(error), REMEDIES[name], **details)
    if log:
        trial.steps[-1] = replace(trial.steps[-1], log=log)


def told(error: BaseException) -> str:
    """An exception in a line."""
    if isinstance(error, Invalid):
        return words.REFUSED % {"reason": error.detail}
    return error.detail if isinstance(error, Problem) else f"{type(error).__name__}: {error}"


REMEDIES = {**words.STEP_REMEDIES, "strips": words.STRIPS % {"seconds": f"{EXPLAIN_SECONDS:g}"}}
