"""The description of a release that its card, datasheet and other accompanying files share."""

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dynabench import __version__
from dynabench.benchmark.releases.division import ReleaseReport
from dynabench.benchmark.releases.manifest import ReleaseFile
from dynabench.benchmark.releases.release_files import ReleaseLayout
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Chat, Choice, Image, Spans, Text
from dynabench.tasks.sections import ReleaseSettings


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
    decided: int = 0
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
        self.decided += row["fooled"] is not None
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


KNOWN_LICENCES = {
    *("apache-2.0", "mit", "bsd", "cc", "cc0-1.0", "cc-by-2.0", "cc-by-3.0", "cc-by-4.0", "cc-by-sa-3.0"),
    *("cc-by-sa-4.0", "cc-by-nc-2.0", "cc-by-nc-3.0", "cc-by-nc-4.0", "cc-by-nd-4.0", "cc-by-nc-nd-4.0"),
    *("cc-by-nc-sa-4.0", "odc-by", "odbl", "pddl", "unlicense", "wtfpl", "gpl-3.0", "lgpl-3.0", "agpl-3.0"),
}
"""Identifiers of licences that cards on the hub may name; others are called `other` with a name."""
HUB_SPLITS = {"train": "train", "dev": "validation", "test": "test"}
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))


def bibtex_entry(task: str, number: int, title: str, closed_at: str, page: str, digest: str = "") -> str:
    """Return a BibTeX entry, with the digest of the release where it is known."""
    note = f",\n  note = {{sha256:{digest}}}" if digest else ""
    clean_title = re.sub(r"[\\{}\s]+", " ", title)
    return (
        f"@misc{{dynabench-{task}-r{number},\n  title = {{{clean_title}}},\n  howpublished = {{Dynabench, task {task}, "
        f"round {number}}},\n  year = {{{closed_at[:4]}}},\n  url = {{{page}}}{note}\n}}"
    )


@dataclass(frozen=True)
class ReleaseDescription:
    """A release whose data files are written, as its accompanying files describe it."""

    task: str
    number: int
    name: str
    config: TaskConfig
    layout: ReleaseLayout
    rules: ReleaseSettings
    report: ReleaseReport
    facts: ReleaseFacts
    canary: str
    opened_at: str
    closed_at: str
    targets: tuple[str, ...]
    data: tuple[ReleaseFile, ...]
    address: str
    """Where the platform is found; empty where it has told nobody."""

    @property
    def title(self) -> str:
        """The title that people read."""
        return f"{self.config.name}, round {self.number}"

    @property
    def licence(self) -> str:
        """Its SPDX identifier."""
        return self.config.data.licence

    @property
    def maker(self) -> str:
        """The program that wrote it."""
        return f"Dynabench {__version__}"

    @property
    def page(self) -> str:
        """The address of its page."""
        return f"{self.address.rstrip('/') or 'http://localhost'}/tasks/{self.task}/rounds/{self.number}/release"

    @property
    def citation(self) -> str:
        """A BibTeX entry without the digest, which is known only when all files are written and stands on the page."""
        return bibtex_entry(self.task, self.number, self.title, self.closed_at, self.page)

    @cached_property
    def warning(self) -> str:
        """The line with the canary string, for files that people and programs read as text."""
        return f"Benchmark data must not be in training corpora. Canary GUID {self.canary}"

    def parts(self, *names: str) -> list[str]:
        """Return those of the parts that have a file."""
        return [name for name in names if f"data/{name}.parquet" in {file.path for file in self.data}]

    @cached_property
    def kind(self) -> str:
        """The kind of task by the hub's name."""
        answer, inputs = self.config.answer[0], [*self.config.model_context, *self.config.input]
        pictures = any(isinstance(field, Image) for field in inputs)
        if isinstance(answer, Choice):
            return "image-classification" if pictures else "text-classification"
        if pictures:
            return "visual-question-answering"
        return "question-answering" if isinstance(answer, Spans) else "text-generation"

    @cached_property
    def texts(self) -> list[str]:
        """The columns of the text fields that models read."""
        text_fields = {
            model_field.name
            for model_field in [*self.config.model_context, *self.config.input]
            if isinstance(model_field, Text | Chat)
        }
        return [column for group, field, column in self.layout.columns if group != "answer" and field in text_fields]

    @property
    def answer(self) -> str:
        """The column of the first answer field."""
        return self.layout.named("answer")[0]

    @property
    def size(self) -> str:
        """The size category by the hub's name."""
        return next((name for below, name in SIZES if self.facts.total < below), "1M<n<10M")

    def licence_fields(self) -> dict[str, Any]:
        """Return the licence as the card's metadata write it."""
        identifier = self.licence.lower()
        if identifier in KNOWN_LICENCES:
            return {"license": identifier}
        name = re.sub(r"[^a-z0-9.-]+", "-", identifier).strip("-") or "unknown"
        return {"license": "other", "license_name": name}
