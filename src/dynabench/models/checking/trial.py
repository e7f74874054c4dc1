"""A model on its way through the steps of a check."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dynabench.errors import Invalid, Problem
from dynabench.language import _
from dynabench.models.checking.report import State, Step, last_lines
from dynabench.models.client import EXPLAIN_SECONDS
from dynabench.models.protocol import Card, Output
from dynabench.models.samples import Sample
from dynabench.tasks.config import TaskConfig

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

    def add(self, name: str, state: State, message: str, remedy: str = "", **details: Any) -> None:
        """Note a step that has ended."""
        self.steps.append(Step(name, state, message, remedy, details, self._log() if state == "failed" else ()))

    def _log(self) -> tuple[str, ...]:
        """The end of what the model wrote, where its backend keeps that."""
        log = getattr(self.model, "log", None)
        with suppress(Exception):  # a log that cannot be had must not hide what failed
            return last_lines(log() if callable(log) else log)
        return ()


def failed(trial: Trial, name: str, error: Exception) -> None:
    """Note that a step ended with this error, with the log that the error or the model brings."""
    if isinstance(error, Failed):
        trial.add(name, "failed", error.args[0], error.remedy, **error.details)
        return
    log = last_lines(getattr(error, "log", None) or getattr(error, "extra", {}).get("log"))
    details = {"fields": error.fields} if isinstance(error, Invalid) else {}
    trial.add(name, "failed", told(error), REMEDIES[name], **details)
    if log:
        trial.steps[-1] = replace(trial.steps[-1], log=log)


def told(error: BaseException) -> str:
    """An exception in a line."""
    if isinstance(error, Invalid):
        return _("refused: %(why)s", why=error.detail)
    return error.detail if isinstance(error, Problem) else f"{type(error).__name__}: {error}"


REMEDIES = {
    "found": _("Check the spelling, and that what you name can be read from here."),
    "model.yaml": _("Mend model.yaml; `dynabench model new` writes one that fits, with comments."),
    "installed": _("Install what the message names; `dynabench model kinds` shows what is there."),
    "fits the task": _("In model.yaml use the task's names for inputs, answer and labels."),
    "loads": _("The weights must belong to this model.yaml; the message says what did not fit."),
    "answers": _(
        "Every input that the task allows needs an answer; the message says what was wrong with those it gave."
    ),
    "batches": _("No row may depend on its neighbours: mask the padding, keep the order, keep nothing between calls."),
    "repeats": _("Set a seed or temperature 0, and switch dropout off, so that a recorded answer can be reproduced."),
    "speed": _("Say how long it takes as `seconds:` in model.yaml, or make it smaller: shorter inputs, int8, ONNX."),
    "strips": _(
        "After %(seconds)s s annotators see no strip; a faster model or a shorter input helps.",
        seconds=f"{EXPLAIN_SECONDS:g}",
    ),
}
