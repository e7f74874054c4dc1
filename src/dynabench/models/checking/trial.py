"""A model on its way through the steps of a check."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Invalid, Problem
from dynabench.models import check_words as words
from dynabench.models.checking.report import Step, StepState, last_lines
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


REMEDIES = {**words.REMEDIES, "strips": words.STRIPS % {"seconds": f"{EXPLAIN_SECONDS:g}"}}
