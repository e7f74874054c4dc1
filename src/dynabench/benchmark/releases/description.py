"""The layout and the description of a release, which its files share.

The layout is a column for each field of the task, and the other columns of an export."""

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from dynabench import __version__
from dynabench.benchmark.releases.division import ReleaseReport
from dynabench.benchmark.releases.manifest import ReleaseFile
from dynabench.datasets import parquet
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import ExportScope
from dynabench.tasks import TaskConfig
from dynabench.tasks.fields import Chat, Choice, Image, Spans, Text
from dynabench.tasks.sections import ReleaseSettings

FLAT_GROUPS = ("context", "input", "answer")
"""Groups whose fields are columns of their own."""
OTHER_COLUMNS = ("uid", "number", "context_tag", *(name for name in COLUMNS if name not in ("uid", *FLAT_GROUPS)))
EXACT, CANARY = "exact", "canary"
ReleaseRow = dict[str, Any]


@dataclass(frozen=True)
class ReleaseLayout:
    """The columns of a task's fields: the group, the field and the column of each."""

    columns: tuple[tuple[str, str, str], ...]

    @classmethod
    def of(cls, config: TaskConfig) -> "ReleaseLayout":
        """Make the layout of a config: a column has its field's name, or `input_text` where another column has that
        name."""
        used_names, columns = {*OTHER_COLUMNS, EXACT, CANARY}, []
        for group in FLAT_GROUPS:
            for field in config.fields(group):
                name = field.name if field.name not in used_names else f"{group}_{field.name}"
                used_names.add(name)
                columns.append((group, field.name, name))
        return cls(tuple(columns))

    def named(self, *groups: str) -> list[str]:
        """Return the columns of some groups."""
        return [column for group, _, column in self.columns if group in groups]

    def flat(self, row: ReleaseRow, number: int, canary: str) -> ReleaseRow:
        """Return a row of an export as a row of a release, the `number`th public one of its round."""
        flat_values: ReleaseRow = {}
        values = {"context": row["context"]["values"], "input": row["input"], "answer": row["answer"]}
        for group, field, column in self.columns:
            if field in values[group]:
                flat_values[column] = values[group][field]
        flat_values |= {"uid": row["uid"], "number": number, "context_tag": row["context"]["tag"]}
        flat_values |= {name: row[name] for name in OTHER_COLUMNS if name in row and name != "uid"}
        if self.nested(flat_values) != row:  # written under another version of the config, whose fields are others
            flat_values[EXACT] = orjson.dumps(row).decode()
        return flat_values | {CANARY: canary}

    def nested(self, row: ReleaseRow) -> ReleaseRow:
        """Return the exported row that a row of a release was made of; raises KeyError where a column is missing."""
        if row.get(EXACT):
            exact: ReleaseRow = orjson.loads(row[EXACT])
            return exact
        values: dict[str, ReleaseRow] = {group: {} for group in FLAT_GROUPS}
        for group, field, column in self.columns:
            if column in row:
                values[group][field] = row[column]
        context = {"values": values["context"], "tag": row["context_tag"]}
        whole = (
            {"assistance": None, "program": None}
            | row
            | {"context": context, "input": values["input"], "answer": values["answer"]}
        )
        return {name: whole[name] for name in COLUMNS}


def release_schema(layout: ReleaseLayout, export_scope: ExportScope, canary: str) -> pa.Schema:
    """Return the schema of a release's Parquet files."""
    exported = parquet.export_schema(export_scope)
    flat = [(column, _type(export_scope, group, field)) for group, field, column in layout.columns]
    beside = [
        (name, exported.field(name).type if name in COLUMNS else pa.string())
        for name in OTHER_COLUMNS
        if name != "number"
    ]
    more = [("number", pa.int32()), *beside, (EXACT, pa.string()), (CANARY, pa.string())]
    return pa.schema([*flat, *more], metadata={CANARY: canary})


def _type(export_scope: ExportScope, group: str, field: str) -> pa.DataType:
    """The Arrow type of a field's values; text that holds JSON where its schema says too little."""
    named = [member for member in parquet.group_struct(export_scope.configs, group) if member.name == field]
    return named[0].type if named else pa.string()


def release_table(rows: list[ReleaseRow], layout: ReleaseLayout, columns: pa.Schema) -> pa.Table:
    """Return rows as a table. A value that its column cannot hold is stored approximately, and exactly in `exact`."""
    texts = [orjson.dumps(text_row, option=orjson.OPT_APPEND_NEWLINE) for text_row in _as_text(rows, layout, columns)]
    plain = columns.remove_metadata()
    try:
        arrow_table = parquet.parse_lines(b"".join(texts), plain)
    except pa.ArrowException:
        fitted = (_fitted(text, layout.nested(row), plain) for text, row in zip(texts, rows, strict=True))
        arrow_table = parquet.parse_lines(b"".join(fitted), plain)
    return arrow_table.replace_schema_metadata(columns.metadata)


def _as_text(rows: list[ReleaseRow], layout: ReleaseLayout, columns: pa.Schema) -> Iterator[ReleaseRow]:
    """Rows whose values are JSON where the column is text and the value is none."""
    names = [column for *_, column in layout.columns if columns.field(column).type == pa.string()]
    for row in rows:
        other = {name: row[name] for name in names if row.get(name) is not None and not isinstance(row[name], str)}
        yield row | {name: orjson.dumps(value).decode() for name, value in other.items()}


def _fitted(text: bytes, row: ReleaseRow, columns: pa.Schema) -> bytes:
    try:
        parquet.parse_lines(text, columns)
    except pa.ArrowException:
        values = orjson.loads(text)
        fitted = {column.name: parquet.fit_value(values.get(column.name), column.type) for column in columns}
        return orjson.dumps(fitted | {EXACT: orjson.dumps(row).decode()}, option=orjson.OPT_APPEND_NEWLINE)
    return text


@dataclass
class ReleaseFacts:
    """Counts that grow with each example added."""

    examples: Counter[str] = dataclasses.field(default_factory=Counter)
    sources: Counter[str] = dataclasses.field(default_factory=Counter)
    starts: Counter[str] = dataclasses.field(default_factory=Counter)
    arms: Counter[str] = dataclasses.field(default_factory=Counter)
    models: Counter[str] = dataclasses.field(default_factory=Counter)
    verdicts: Counter[str] = dataclasses.field(default_factory=Counter)
    writers: dict[str, int] = dataclasses.field(default_factory=dict)
    validators: set[str] = dataclasses.field(default_factory=set)
    contexts: set[str] = dataclasses.field(default_factory=set)
    votes: list[int] = dataclasses.field(default_factory=list)
    agreeing: int = 0
    judged: int = 0
    fooled: int = 0
    decided: int = 0
    explained: int = 0
    made_from: int = 0
    seconds: list[float] = dataclasses.field(default_factory=list)
    lengths: list[int] = dataclasses.field(default_factory=list)

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
    demo: bool = False
    """True if the demo added the round."""
    thanked_people: Sequence[str] = ()
    thanked_teams: Sequence[str] = ()
    """Those who chose to be named in the thanks."""

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
