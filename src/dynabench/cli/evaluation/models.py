"""Models for `dynabench evaluate run`: shipped ones by name, others by hub id or folder."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.progress import Progress

from dynabench.cli.evaluation.rows import Data

if TYPE_CHECKING:
    from dynabench.cli.evaluation.running import Run

TIMES = ("total_time_in_seconds", "samples_per_second", "latency_in_seconds")


@dataclass(frozen=True)
class Answers:
    """A model's answers as columns of metrics, the data they are about, and the task's own metric."""

    data: Data
    columns: dict[str, list[Any]]
    timing: Mapping[str, float]
    metric: str


def answers(asked: "Run", progress: Progress) -> Answers:
    """Ask the model about all rows, once. Raises ValueError for a model, task or data that does not fit."""
    raise ValueError("models cannot be asked yet")
