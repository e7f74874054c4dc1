"""Reports of other programs: plug-ins read what they found, and what is not taken with the reason.

A plug-in adds readers by the hook `dynabench_report_readers` (`dynabench.kit.hooks`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from dynabench.kit import plugins
from dynabench.kit.distributions import ATTACK_REPORTS, PLATFORM, install_command
from dynabench.kit.errors import Invalid, NotFound

NO_READER = (
    "Reports of other programs are read by a plug-in that is not installed: "
    f"{install_command(PLATFORM, ATTACK_REPORTS)}"
)


@dataclass(frozen=True)
class AttackFinding:
    """A text that fooled a model elsewhere: `texts` by the names of that program's inputs, one named "" where it has no
    names; `label` is the answer that it takes for right, None where it knows none. `at` says where in the file.
    """

    at: str
    texts: Mapping[str, str]
    label: str | None = None
    queries: int = 0
    cost: float = 0.0
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SkippedEntry:
    """An entry that is not taken, and why."""

    at: str
    why: str


@dataclass(frozen=True)
class AttackReport:
    """The findings of a program; `version` is that of the program, "unknown" where the file does not tell."""

    program: str
    version: str
    findings: Sequence[AttackFinding]
    skipped: Sequence[SkippedEntry]


class ReportReader(Protocol):
    """A function that reads the files of one program."""

    def __call__(self, path: Path) -> AttackReport:
        """Read the report at `path`. Raises `Invalid` for another file."""


def readers() -> Mapping[str, str]:
    """Return the `module:function` of every reader by the name of its program."""
    return plugins.gather("dynabench_report_readers", plugins.references)


def read_report(program: str, path: Path) -> AttackReport:
    """Read the report of a program. Raises `NotFound` where nothing reads its reports, `Invalid` for another file."""
    references = readers()
    if program not in references:
        message = (
            f"Nothing reads reports of {program!r}; there are {', '.join(references)}." if references else NO_READER
        )
        raise NotFound(message)
    reader: ReportReader = plugins.load_reference(references[program])
    try:
        return reader(path)
    except UnicodeDecodeError:
        raise Invalid({"file": f"{path.name} is no text in UTF-8."}) from None
