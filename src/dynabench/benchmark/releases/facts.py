"""Counts over the public examples of a release, for its card and its datasheet."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class ReleaseFacts:
    """Counts that grow with each example added."""

    examples: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    starts: Counter[str] = field(default_factory=Counter)
    arms: Counter[str] = field(default_factory=Counter)
    models: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    writers: dict[str, int] = field(default_factory=dict)
    validators: set[str] = field(default_factory=set)
    contexts: set[str] = field(default_factory=set)
    votes: list[int] = field(default_factory=list)
    agreeing: int = 0
    judged: int = 0
    fooled: int = 0
    asked: int = 0
    explained: int = 0
    made_from: int = 0
    seconds: list[float] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)

    def add(self, part: str, row: dict[str, Any]) -> None:
        """Count one row of an export."""
        self.examples[part] += 1
        self.sources[row["source"]] += 1
        self.starts[row["condition"]["start"]] += 1
        self.arms[row["condition"]["arm"]] += 1
        self.models.update(f"{entry['model']} ({entry['version'][:12]})" for entry in row["predictions"])
        self.verdicts[row["verdict"]] += 1
        self.writers[row["author"]] = self.writers.get(row["author"], 0) + 1
        self.contexts.add(repr(row["context"]["values"]))
        votes = [entry["vote"] for entry in row["validations"]]
        self.validators.update(entry["validator"] for entry in row["validations"])
        self.votes.append(len(votes))
        if len(votes) > 1:
            self.judged += 1
            self.agreeing += len(set(votes)) == 1
        self.asked += row["fooled"] is not None
        self.fooled += row["fooled"] is True
        self.explained += row["explanation"] is not None
        self.made_from += row["made_from"] is not None
        self.seconds.append(row["seconds"])
        self.lengths += [len(entry.split()) for entry in row["input"].values() if isinstance(entry, str)]

    @property
    def total(self) -> int:
        """The number of public examples."""
        return sum(self.examples.values())

    @property
    def most_by_one(self) -> float:
        """The share of the examples that their busiest writer wrote."""
        return max(self.writers.values(), default=0) / max(self.total, 1)

    def middle(self, values: list[Any]) -> str:
        """The median as text; a dash for none."""
        return f"{float(np.median(values)):g}" if values else "–"
