"""The tasks that come with the platform, with contexts and seeds written for it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from dynabench.tasks.config import TaskConfig

NAMES = (
    *("sentiment", "nli", "qa", "hate", "boolq", "hate-emoji", "summarization", "translation"),
    *("qa-extended", "ner"),
    *("image-classification", "vqa"),
)
ANSWERED_BY = {"hate-emoji": "hate"}
"""Tasks whose models come with another task."""
CONVERSATIONS = ("chat-preference", "red-team-chat")
"""Tasks against language models, which whoever runs them brings along."""
DRAWINGS = ("red-team-image-prompt",)
"""Tasks against models that draw, which whoever runs them brings along."""
SELECTIONS = ("data-selection",)
"""Tasks whose people choose training data; they have datasets, and no rounds."""


@dataclass(frozen=True)
class ShippedTask:
    """A task of the platform: its YAML and config, with contexts, seeds and data written for it."""

    source: str
    config: TaskConfig

    @property
    def answered_by(self) -> str:
        """The id of the task that the shipped models for this task have in their cards."""
        return ANSWERED_BY.get(self.config.id, self.config.id)

    def contexts(self) -> Iterator[dict[str, Any]]:
        """Yield clean contexts as `{"values": {...}, "tag": "..."}`; none where the task shows nothing."""
        for row in self._rows("contexts"):
            yield {"values": self.config.clean_context(row["values"]), "tag": row["tag"]}

    def seeds(self) -> Iterator[dict[str, Any]]:
        """Yield texts to start from; many tasks have none.

        A seed is `{"context": {...}, "input": {...}, "answer": {...}, "tag": "..."}`.
        """
        yield from self._rows("seeds")

    def rows(self, part: str) -> Iterator[dict[str, Any]]:
        """Yield rows of the `pool`, or of the `dev` or `test` data, as `{"uid", "inputs", "answers", "tags"}`."""
        yield from self._rows(part)

    def _rows(self, kind: str) -> Iterator[dict[str, Any]]:
        file = files(__package__) / "builtin" / f"{self.config.id}.{kind}.jsonl"
        if file.is_file():
            with file.open(encoding="utf-8") as lines:
                yield from (json.loads(line) for line in lines)


def shipped_tasks() -> list[ShippedTask]:
    """Return the shipped tasks, in the order in which a new deployment offers them."""
    return [_read(name) for name in NAMES]


def shipped_conversations() -> list[ShippedTask]:
    """Return the shipped tasks that are conversations with language models, which do not come with the platform."""
    return [_read(name) for name in CONVERSATIONS]


def shipped_selections() -> list[ShippedTask]:
    """Return the shipped tasks in which people choose training data for a model."""
    return [_read(name) for name in SELECTIONS]


def shipped_drawings() -> list[ShippedTask]:
    """Return the shipped tasks against models that draw, which do not come with the platform."""
    return [_read(name) for name in DRAWINGS]


@cache
def _read(name: str) -> ShippedTask:
    source = (files(__package__) / "builtin" / f"{name}.yaml").read_text(encoding="utf-8")
    return ShippedTask(source, TaskConfig.parse(source))
