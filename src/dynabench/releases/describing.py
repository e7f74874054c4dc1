"""What the files beside the data have in common: the release as they speak of it, its licence and its kind of task."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dynabench import __version__
from dynabench.releases.checks import ReleaseReport
from dynabench.releases.facts import Facts
from dynabench.releases.layout import Layout
from dynabench.releases.manifest import File
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


def cited(task: str, number: int, title: str, closed_at: str, page: str, digest: str = "") -> str:
    """A BibTeX entry, which names the very bytes where their digest is known."""
    note = f",\n  note = {{sha256:{digest}}}" if digest else ""
    plain = re.sub(r"[\\{}\s]+", " ", title)
    return (
        f"@misc{{dynabench-{task}-r{number},\n  title = {{{plain}}},\n  howpublished = {{Dynabench, task {task}, round "
        f"{number}}},\n  year = {{{closed_at[:4]}}},\n  url = {{{page}}}{note}\n}}"
    )


@dataclass(frozen=True)
class Described:
    """A release whose data are written: what its other files speak of."""

    task: str
    number: int
    name: str
    config: TaskConfig
    layout: Layout
    rules: ReleaseSettings
    report: ReleaseReport
    facts: Facts
    canary: str
    opened_at: str
    closed_at: str
    targets: tuple[str, ...]
    data: tuple[File, ...]
    address: str
    """Where the platform is found; empty where it has told nobody."""

    @property
    def title(self) -> str:
        """What people call it."""
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
        """Where it is shown."""
        return f"{self.address.rstrip('/') or 'http://localhost'}/tasks/{self.task}/rounds/{self.number}/release"

    @property
    def citation(self) -> str:
        """A BibTeX entry; the digest of the release is known once this is written, and stands on its page."""
        return cited(self.task, self.number, self.title, self.closed_at, self.page)

    @cached_property
    def warning(self) -> str:
        """The line with the canary string, for files that people and programs read as text."""
        return f"Benchmark data must not be in training corpora. Canary GUID {self.canary}"

    def parts(self, *names: str) -> list[str]:
        """Those of the parts that have a file."""
        return [name for name in names if f"data/{name}.parquet" in {each.path for each in self.data}]

    @cached_property
    def kind(self) -> str:
        """The kind of task as the hub calls it."""
        answer, inputs = self.config.answer[0], [*self.config.model_context, *self.config.input]
        pictures = any(isinstance(each, Image) for each in inputs)
        if isinstance(answer, Choice):
            return "image-classification" if pictures else "text-classification"
        if pictures:
            return "visual-question-answering"
        return "question-answering" if isinstance(answer, Spans) else "text-generation"

    @cached_property
    def texts(self) -> list[str]:
        """The columns of what models are given, where it is text."""
        given = {
            each.name for each in [*self.config.model_context, *self.config.input] if isinstance(each, Text | Chat)
        }
        return [column for group, field, column in self.layout.columns if group != "answer" and field in given]

    @property
    def answer(self) -> str:
        """The column of the first answer field."""
        return self.layout.named("answer")[0]

    @property
    def size(self) -> str:
        """How large it is, as the hub says."""
        return next((name for below, name in SIZES if self.facts.total < below), "1M<n<10M")

    def licence_fields(self) -> dict[str, Any]:
        """The licence in the card's head."""
        known = self.licence.lower()
        if known in KNOWN_LICENCES:
            return {"license": known}
        name = re.sub(r"[^a-z0-9.-]+", "-", known).strip("-") or "unknown"
        return {"license": "other", "license_name": name}
