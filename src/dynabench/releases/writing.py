"""Writing the files of a release: one pass over the round. The same round and rules give the same bytes."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench import errors
from dynabench.archives import writing as archives
from dynabench.datasets.with_files import REFERENCE
from dynabench.db import Database
from dynabench.media.facts import ENDINGS
from dynabench.media.media_types import media_type_of
from dynabench.media.store import MediaStore
from dynabench.releases import benchmark, card, croissant, datasheet, layout, manifest, planning
from dynabench.releases.checks import ReleaseReport
from dynabench.releases.describing import Described
from dynabench.releases.facts import Facts
from dynabench.releases.layout import CANARY, Layout, Row
from dynabench.releases.manifest import FORMAT, File, Manifest
from dynabench.releases.planning import Subject
from dynabench.releases.splitting import PUBLIC
from dynabench.settings import Settings
from dynabench.tasks.sections import ReleaseSettings as Rules

GROUP = 5_000
"""Rows of a row group, and rows in memory for each part."""
TASK, ROUND = "task.yaml", "round.json"


def write(
    db: Database,
    settings: Settings,
    of: Subject,
    parts: Mapping[str, str],
    rules: Rules,
    report: ReleaseReport,
    folder: Path,
) -> Manifest:
    """Write a round whose examples are divided into `parts` (by uid) to an empty folder; what its manifest says."""
    canary, columns = planning.canary(settings, of), Layout.of(of.config)
    facts, writer = Facts(), _Data(folder, columns, layout.schema(columns, of.scope, canary))
    number = 0
    for row in planning.records(db, settings, replace(of, scope=replace(of.scope, whole=False))):
        part = parts.get(row["uid"])
        if part in PUBLIC:
            kept = _without_secrets(row, parts)
            facts.add(part, kept)
            writer.add(part, columns.flat(kept, number, canary))
            number += 1
    data = [*writer.close(), *_media(settings, folder, writer.shown)]
    described = Described(
        of.task, of.number, of.scope.name, of.config, columns, rules, report, facts, canary, of.opened_at, of.closed_at,
        tuple(f"{each.model}@{each.version[:12]}" for each in of.document.targets), tuple(data),
        settings.public_url,
    )  # fmt: skip
    for name, text in _texts(described, of, writer.columns):
        (folder / name).write_bytes(text)
        data.append(manifest.file_of(folder, name))
    made = Manifest(
        format=FORMAT, version=1, canary=canary, task=of.task, round=of.number, closed_at=of.closed_at,
        rules=rules.model_dump(mode="json"), examples=dict(sorted(report.parts.items())),
        files=sorted(data, key=lambda each: each.path),
    )  # fmt: skip
    (folder / manifest.NAME).write_bytes(made.text())
    for path in folder.rglob("*"):
        if path.is_file():
            _kept(path)
    return made


def _without_secrets(row: Row, parts: Mapping[str, str]) -> Row:
    """The row, which neither names nor shows an example that nobody reads as the one it was made from."""
    secret = parts.get(row["made_from"] or "") not in (None, *PUBLIC)
    return row | {"made_from": None, "initial": {}} if secret else row


def _texts(of: Described, subject: Subject, columns: pa.Schema) -> Iterator[tuple[str, bytes]]:
    """The files beside the data."""
    numbers = {subject.document.version_id: subject.version}
    document = {
        CANARY: of.canary,
        "version": {"number": subject.version, "created_at": subject.written_at},
        "round": archives.round_document(subject.document, numbers) | {"state": "released"},
    }
    yield "README.md", card.write(of).encode()
    yield "datasheet.md", datasheet.write(of).encode()
    yield "LICENSE.md", _licence(of).encode()
    yield "croissant.json", croissant.write(of, columns)
    if text := benchmark.write(of):
        yield "eval.yaml", text.encode()
    yield TASK, f"# {of.warning}\n{subject.source}".encode()
    yield ROUND, orjson.dumps(document, option=orjson.OPT_INDENT_2) + b"\n"


def _licence(of: Described) -> str:
    return (
        f"# Licence\n\n{of.title} is licensed under {of.licence}: https://spdx.org/licenses/{of.licence}.html\n\n"
        "Its writers agreed to this when they joined, and are named by pseudonyms. Name the release by the SHA-256 of "
        f"its manifest.json.\n\n{of.warning}\n"
    )


class _Data:
    """The data files of all parts, each as JSON lines and as Parquet, a row group at a time."""

    def __init__(self, folder: Path, columns: Layout, schema: pa.Schema) -> None:
        self.folder, self.layout, self.columns = folder, columns, schema
        self.waiting: dict[str, list[Row]] = {}
        self.rows: dict[str, int] = {}
        self.lines: dict[str, IO[bytes]] = {}
        self.tables: dict[str, pq.ParquetWriter] = {}
        self.shown: set[str] = set()
        (folder / "data").mkdir()

    def add(self, part: str, row: Row) -> None:
        """Take a row."""
        if part not in self.waiting:
            self.waiting[part], self.rows[part] = [], 0
            self.lines[part] = (self.folder / f"data/{part}.jsonl").open("wb")
            self.tables[part] = pq.ParquetWriter(self.folder / f"data/{part}.parquet", self.columns, compression="zstd")
        self.waiting[part].append(row)
        self.rows[part] += 1
        if len(self.waiting[part]) == GROUP:
            self._write(part)

    def _write(self, part: str) -> None:
        rows, self.waiting[part] = self.waiting[part], []
        text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
        self.shown.update(found.decode() for found in REFERENCE.findall(text))
        self.lines[part].write(text)
        self.tables[part].write_table(layout.table(rows, self.layout, self.columns))

    def close(self) -> list[File]:
        """Write what waits; what the manifest says of the files."""
        found = []
        for part, rows in sorted(self.rows.items()):
            if self.waiting[part]:
                self._write(part)
            self.lines[part].close()
            self.tables[part].close()
            found += [manifest.file_of(self.folder, f"data/{part}.{ending}", rows) for ending in ("jsonl", "parquet")]
        return found


def _media(settings: Settings, folder: Path, digests: set[str]) -> list[File]:
    """The pictures, sounds and files that rows show, under their SHA-256; those that are gone are left out."""
    store, found = MediaStore.of(settings), []
    for digest in sorted(digests):
        try:
            content = store.read(digest)
        except errors.NotFound:
            continue
        (folder / "media").mkdir(exist_ok=True)
        path = f"media/{digest}.{ENDINGS[media_type_of(content)]}"
        (folder / path).write_bytes(content)
        found.append(manifest.file_of(folder, path))
    return found


def _kept(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def rows_of(db: Database, settings: Settings, of: Subject, parts: Mapping[str, str], wanted: str) -> Iterator[Any]:
    """The examples of one part, as exports have them."""
    return (row for row in planning.records(db, settings, of) if parts.get(row["uid"]) == wanted)
