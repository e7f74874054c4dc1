"""Report of a model check, step by step."""

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

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
