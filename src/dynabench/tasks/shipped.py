"""The tasks that come with the platform, with contexts written for it."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from dynabench.tasks.config import TaskConfig

NAMES = ("sentiment", "nli", "qa")


@dataclass(frozen=True)
class Shipped:
    """One of our tasks: its YAML, what it means, and its contexts."""

    source: str
    config: TaskConfig

    def contexts(self) -> Iterator[dict[str, Any]]:
        """Contexts as `{"values": {...}, "tag": "..."}`, clean."""
        with (files(__package__) / "builtin" / f"{self.config.id}.contexts.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                context = json.loads(line)
                yield {"values": self.config.clean_context(context["values"]), "tag": context["tag"]}


def builtin() -> list[Shipped]:
    """Our tasks, in the order in which a new deployment offers them."""
    return [_read(name) for name in NAMES]


def _read(name: str) -> Shipped:
    source = (files(__package__) / "builtin" / f"{name}.yaml").read_text(encoding="utf-8")
    return Shipped(source, TaskConfig.parse(source))
