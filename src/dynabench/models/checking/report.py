"""What came of checking a model, step by step."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from dynabench.language import kept, restored

State = Literal["ok", "warning", "failed", "skipped"]
LINES = 20
"""Lines of a model's log that are told."""


@dataclass(frozen=True)
class Step:
    """One thing that was looked at: what was found, what to do about it, figures, and the log's last lines."""

    name: str
    state: State
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
        """Whether nothing failed; warnings do not count."""
        return not self.failures

    @property
    def failures(self) -> list[Step]:
        """The steps that failed."""
        return [step for step in self.steps if step.state == "failed"]

    @property
    def warnings(self) -> list[Step]:
        """The steps that went well enough."""
        return [step for step in self.steps if step.state == "warning"]

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

    def record(self) -> dict[str, Any]:
        """The report as it is kept: `phrases` of a step hold its texts with their translations, for `read`."""
        document = self.document()
        for step, made in zip(self.steps, document["steps"], strict=True):
            made["phrases"] = {"told": kept(step.told), "remedy": kept(step.remedy)}
        return document


def read(record: Mapping[str, Any]) -> dict[str, Any]:
    """A report that `record` wrote down, with texts that know their translations; those of before know none."""
    return {**record, "steps": [_read(step) for step in record["steps"]]} if record.get("steps") else dict(record)


def _read(step: Mapping[str, Any]) -> dict[str, Any]:
    phrases = step.get("phrases", {})
    told = {name: restored(phrases.get(name)) or step[name] for name in ("told", "remedy")}
    return {name: value for name, value in step.items() if name != "phrases"} | told


def last_lines(log: Any) -> tuple[str, ...]:
    """The end of a log that is a text or a list of lines."""
    lines = log.splitlines() if isinstance(log, str) else [str(line) for line in log or ()]
    return tuple(line.rstrip() for line in lines[-LINES:])
