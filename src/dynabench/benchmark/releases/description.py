"""The description of a release that its card, datasheet and other accompanying files share."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dynabench import __version__
from dynabench.benchmark.releases.checks import ReleaseReport
from dynabench.benchmark.releases.facts import ReleaseFacts
from dynabench.benchmark.releases.layout import ReleaseLayout
from dynabench.benchmark.releases.manifest import ReleaseFile
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Chat, Choice, Image, Spans, Text
from dynabench.tasks.sections import ReleaseSettings

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
