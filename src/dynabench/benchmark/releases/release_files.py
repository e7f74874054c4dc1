"""The files of a release: a column for each field of the task, written in one pass over the round.

The same round and rules give the same bytes."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.benchmark.releases import documents, manifest, planning
from dynabench.benchmark.releases.description import ReleaseDescription, ReleaseFacts
from dynabench.benchmark.releases.division import PUBLIC, ReleaseReport
from dynabench.benchmark.releases.manifest import FORMAT, ReleaseFile, ReleaseManifest
from dynabench.benchmark.releases.planning import ReleaseSubject
from dynabench.datasets import parquet
from dynabench.datasets.archives import writing as archives
from dynabench.datasets.formats import REFERENCE
from dynabench.datasets.rows import COLUMNS
from dynabench.datasets.scopes import ExportScope
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.media.file_formats import ENDINGS, media_type_of
from dynabench.media.store import MediaStore
from dynabench.tasks import TaskConfig
from dynabench.tasks.sections import ReleaseSettings as Rules

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


ROW_GROUP_SIZE = 5_000
"""Rows of a row group, and rows in memory for each part."""
TASK, ROUND = "task.yaml", "round.json"


def write_files(
    db: Database,
    settings: Settings,
    subject: ReleaseSubject,
    parts: Mapping[str, str],
    rules: Rules,
    report: ReleaseReport,
    folder: Path,
) -> ReleaseManifest:
    """Write a round whose examples are divided into `parts` (by uid) to an empty folder; return the manifest."""
    canary, columns = planning.canary_guid(settings, subject), ReleaseLayout.of(subject.config)
    facts, writer = (
        ReleaseFacts(),
        _DataFiles(folder, columns, release_schema(columns, subject.scope, canary)),
    )
    number = 0
    for row in planning.export_records(db, settings, replace(subject, scope=replace(subject.scope, whole=False))):
        part = parts.get(row["uid"])
        if part in PUBLIC:
            public_row = _without_secrets(row, parts)
            facts.add(part, public_row)
            writer.add(part, columns.flat(public_row, number, canary))
            number += 1
    data = [*writer.close(), *_media(settings, folder, writer.references)]
    description = ReleaseDescription(
        subject.task,
        subject.number,
        subject.scope.name,
        subject.config,
        columns,
        rules,
        report,
        facts,
        canary,
        subject.opened_at,
        subject.closed_at,
        tuple(f"{item.model}@{item.version[:12]}" for item in subject.document.targets),
        tuple(data),
        settings.public_url,
    )
    for name, text in _texts(description, subject, writer.columns):
        (folder / name).write_bytes(text)
        data.append(manifest.describe_file(folder, name))
    manifest_document = ReleaseManifest(
        format=FORMAT,
        version=1,
        canary=canary,
        task=subject.task,
        round=subject.number,
        closed_at=subject.closed_at,
        rules=rules.model_dump(mode="json"),
        examples=dict(sorted(report.parts.items())),
        files=sorted(data, key=lambda item: item.path),
    )
    (folder / manifest.MANIFEST_NAME).write_bytes(manifest_document.text())
    for path in folder.rglob("*"):
        if path.is_file():
            _sync_file(path)
    return manifest_document


def _without_secrets(row: ReleaseRow, parts: Mapping[str, str]) -> ReleaseRow:
    """The row without any reference to an example of a hidden part that it was made from."""
    secret = parts.get(row["made_from"] or "") not in (None, *PUBLIC)
    return row | {"made_from": None, "initial": {}} if secret else row


def _texts(description: ReleaseDescription, subject: ReleaseSubject, columns: pa.Schema) -> Iterator[tuple[str, bytes]]:
    """The files besides the data."""
    numbers = {subject.document.version_id: subject.version}
    document = {
        CANARY: description.canary,
        "version": {"number": subject.version, "created_at": subject.written_at},
        "round": archives.round_document(subject.document, numbers) | {"state": "released"},
    }
    yield "README.md", documents.card_text(description).encode()
    yield "datasheet.md", documents.datasheet_text(description).encode()
    yield "LICENSE.md", _licence(description).encode()
    yield "croissant.json", documents.croissant_json(description, columns)
    if text := documents.eval_yaml(description):
        yield "eval.yaml", text.encode()
    yield TASK, f"# {description.warning}\n{subject.source}".encode()
    yield ROUND, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def _licence(description: ReleaseDescription) -> str:
    return (
        f"# Licence\n\n{description.title} is licensed under {description.licence}: https://spdx.org/licenses/{description.licence}.html\n\n"
        "Its writers agreed to this when they joined, and are named by pseudonyms. Name the release by the SHA-256 of "
        f"its manifest.json.\n\n{description.warning}\n"
    )


class _DataFiles:
    """The data files of all parts, each as JSON lines and as Parquet, a row group at a time."""

    def __init__(self, folder: Path, columns: ReleaseLayout, schema: pa.Schema) -> None:
        self.folder, self.layout, self.columns = folder, columns, schema
        self.waiting: dict[str, list[ReleaseRow]] = {}
        self.rows: dict[str, int] = {}
        self.lines: dict[str, IO[bytes]] = {}
        self.tables: dict[str, pq.ParquetWriter] = {}
        self.references: set[str] = set()
        (folder / "data").mkdir()

    def add(self, part: str, row: ReleaseRow) -> None:
        """Add a row."""
        if part not in self.waiting:
            self.waiting[part], self.rows[part] = [], 0
            self.lines[part] = (self.folder / f"data/{part}.jsonl").open("wb")
            self.tables[part] = pq.ParquetWriter(self.folder / f"data/{part}.parquet", self.columns, compression="zstd")
        self.waiting[part].append(row)
        self.rows[part] += 1
        if len(self.waiting[part]) == ROW_GROUP_SIZE:
            self._write(part)

    def _write(self, part: str) -> None:
        rows, self.waiting[part] = self.waiting[part], []
        text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        self.references.update(match.decode() for match in REFERENCE.findall(text))
        self.lines[part].write(text)
        self.tables[part].write_table(release_table(rows, self.layout, self.columns))

    def close(self) -> list[ReleaseFile]:
        """Write the pending rows; return the manifest's entries of the files."""
        entries = []
        for part, rows in sorted(self.rows.items()):
            if self.waiting[part]:
                self._write(part)
            self.lines[part].close()
            self.tables[part].close()
            entries += [
                manifest.describe_file(self.folder, f"data/{part}.{ending}", rows) for ending in ("jsonl", "parquet")
            ]
        return entries


def _media(settings: Settings, folder: Path, digests: set[str]) -> list[ReleaseFile]:
    """The pictures, sounds and files that rows show, under their SHA-256; those that are gone are left out."""
    store, entries = MediaStore.of(settings), []
    for digest in sorted(digests):
        try:
            content = store.read(digest)
        except errors.NotFound:
            continue
        (folder / "media").mkdir(exist_ok=True)
        path = f"media/{digest}.{ENDINGS[media_type_of(content)]}"
        (folder / path).write_bytes(content)
        entries.append(manifest.describe_file(folder, path))
    return entries


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def part_rows(
    db: Database, settings: Settings, subject: ReleaseSubject, parts: Mapping[str, str], wanted_part: str
) -> Iterator[Any]:
    """Yield the examples of one part, as exports have them."""
    return (row for row in planning.export_records(db, settings, subject) if parts.get(row["uid"]) == wanted_part)
