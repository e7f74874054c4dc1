"""The writer of a release's files: one pass over the round. The same round and rules give the same bytes."""

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy.orm import Session

from dynabench.benchmark.releases import croissant, datasheet, documents, manifest, planning
from dynabench.benchmark.releases.description import (
    CANARY,
    ReleaseDescription,
    ReleaseFacts,
    ReleaseLayout,
    ReleaseRow,
    release_schema,
    release_table,
)
from dynabench.benchmark.releases.division import PUBLIC, ReleaseReport
from dynabench.benchmark.releases.manifest import FORMAT, ReleaseFile, ReleaseManifest
from dynabench.benchmark.releases.planning import ReleaseSubject
from dynabench.datasets.archives import writing as archives
from dynabench.datasets.formats import REFERENCE
from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.settings import Settings
from dynabench.media.file_formats import ENDINGS, media_type_of
from dynabench.media.store import MediaStore
from dynabench.tasks.sections import ReleaseSettings as Rules

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
    facts, writer = ReleaseFacts(), _DataFiles(folder, columns, release_schema(columns, subject.scope, canary))
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
        subject.demo,
        *db.read(_thanks, subject.round_id),
    )
    for name, text in _texts(description, subject, writer.columns):
        (folder / name).write_bytes(text)
        data.append(manifest.describe_file(folder, name))
    manifest_document = _manifest(subject, rules, report, canary, data)
    (folder / manifest.MANIFEST_NAME).write_bytes(manifest_document.text())
    for path in folder.rglob("*"):
        if path.is_file():
            _sync_file(path)
    return manifest_document


def _manifest(
    subject: ReleaseSubject, rules: Rules, report: ReleaseReport, canary: str, files: Iterable[ReleaseFile]
) -> ReleaseManifest:
    return ReleaseManifest(
        format=FORMAT,
        version=1,
        canary=canary,
        task=subject.task,
        round=subject.number,
        closed_at=subject.closed_at,
        rules=rules.model_dump(mode="json"),
        examples=dict(sorted(report.parts.items())),
        files=sorted(files, key=lambda item: item.path),
    )


def _thanks(session: Session, round_id: int) -> tuple[Sequence[str], Sequence[str]]:
    """The people and the teams that the card thanks; who wants to be named is decided on a higher level."""
    credits = importlib.import_module("dynabench.communities.credits.service")
    thanks: tuple[Sequence[str], Sequence[str]] = credits.thanks_for(session, round_id)
    return thanks


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
    yield "datasheet.md", datasheet.datasheet_text(description).encode()
    yield "LICENSE.md", _licence(description).encode()
    yield "croissant.json", croissant.croissant_json(description, columns)
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
