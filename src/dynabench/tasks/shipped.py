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
TALKS = ("chat-preference", "red-team-chat")
"""Tasks against language models, which whoever runs them brings along."""
DRAWN = ("red-team-image-prompt",)
"""Tasks against models that draw, which whoever runs them brings along."""
SELECTIONS = ("data-selection",)
"""Tasks whose people choose training data; they have datasets, and no rounds."""


@dataclass(frozen=True)
class Shipped:
    """One of our tasks: its YAML, what it means, and what was written for it."""

    source: str
    config: TaskConfig

    @property
    def answered_by(self) -> str:
        """The task that the models which come for this one name in their cards."""
        return ANSWERED_BY.get(self.config.id, self.config.id)

    def contexts(self) -> Iterator[dict[str, Any]]:
        """Contexts as `{"values": {...}, "tag": "..."}`, clean; none where the task shows nothing."""
        for row in self._rows("contexts"):
            yield {"values": self.config.clean_context(row["values"]), "tag": row["tag"]}

    def seeds(self) -> Iterator[dict[str, Any]]:
        """Texts to start from as `{"context": {...}, "input": {...}, "answer": {...}, "tag": "..."}`; often none."""
        yield from self._rows("seeds")

    def rows(self, part: str) -> Iterator[dict[str, Any]]:
        """Rows of the `pool`, or of the `dev` or `test` data, as `{"uid", "inputs", "answers", "tags"}`."""
        yield from self._rows(part)

    def _rows(self, kind: str) -> Iterator[dict[str, Any]]:
        file = files(__package__) / "builtin" / f"{self.config.id}.{kind}.jsonl"
        if file.is_file():
            with file.open(encoding="utf-8") as lines:
                yield from (json.loads(line) for line in lines)


def builtin() -> list[Shipped]:
    """Our tasks, in the order in which a new deployment offers them."""
    return [_read(name) for name in NAMES]


def conversations() -> list[Shipped]:
    """Our tasks that are conversations with language models; no such model comes with the platform."""
    return [_read(name) for name in TALKS]


def selections() -> list[Shipped]:
    """Our tasks in which people choose what a model learns from."""
    return [_read(name) for name in SELECTIONS]


def drawings() -> list[Shipped]:
    """Our tasks against models that draw; no such model comes with the platform."""
    return [_read(name) for name in DRAWN]


@cache
def _read(name: str) -> Shipped:
    source = (files(__package__) / "builtin" / f"{name}.yaml").read_text(encoding="utf-8")
    return Shipped(source, TaskConfig.parse(source))
