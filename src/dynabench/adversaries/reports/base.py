"""What a report holds: proposals, and what is not taken with the reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Found:
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
class LeftOut:
    """What is not taken, and why."""

    at: str
    why: str


@dataclass(frozen=True)
class Report:
    """What a program says that it found; `version` is that of the program, "unknown" where the file does not tell."""

    program: str
    version: str
    found: Sequence[Found]
    left_out: Sequence[LeftOut]
