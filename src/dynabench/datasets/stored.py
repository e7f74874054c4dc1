"""Rows of datasets and of their twins in Parquet files named after their content.

A file lies at `datasets/ab/abcdef....parquet` below the home folder, is written once and never changed. Columns:
`uid`, `inputs` (JSON object by input field), `answers` (JSON list of acceptable answers, the first is the reference;
an answer is a JSON object by answer field), `tags` (list); twins have `of` (the original's uid) and `transformation`.
"""

import hashlib
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.settings import Settings

BATCH = 10_000
"""Rows of one row group."""
_TEXT = pa.string()
_PLAIN = [("uid", _TEXT), ("inputs", _TEXT), ("answers", _TEXT), ("tags", pa.list_(_TEXT))]
SCHEMA = pa.schema(_PLAIN)
TWINS = pa.schema([*_PLAIN, ("of", _TEXT), ("transformation", _TEXT)])


@dataclass(frozen=True, slots=True)
class Stored:
    """One row: what a model gets, the answers that count as right, and the slices it belongs to.

    `of` and `transformation` are those of a twin's row.
    """

    uid: str
    inputs: Mapping[str, Any]
    answers: tuple[Mapping[str, Any], ...]
    tags: tuple[str, ...] = ()
    of: str = ""
    transformation: str = ""


@dataclass(frozen=True)
class Written:
    """What was written: digest of all rows in order, their number, and how many have each tag or transformation."""

    digest: str
    rows: int
    tags: dict[str, int]
    transformations: dict[str, int]


def path(settings: Settings, digest: str) -> Path:
    """Where the rows of this digest lie."""
    return settings.folder / "datasets" / digest[:2] / f"{digest}.parquet"


def write(settings: Settings, rows: Iterable[Stored], twins: bool = False) -> Written:
    """Store rows, `BATCH` at a time in memory. The same rows in the same order are stored once."""
    folder = settings.folder / "datasets"
    folder.mkdir(mode=0o700, exist_ok=True)
    waiting = folder / f".{uuid.uuid4()}"
    counting, tags, made, count = hashlib.sha256(), dict[str, int](), dict[str, int](), 0
    try:
        with pq.ParquetWriter(waiting, TWINS if twins else SCHEMA, compression="zstd") as writer:
            for batch in _batches(rows):
                for row in batch:
                    counting.update(_line(row))
                    for tag in row.tags:
                        tags[tag] = tags.get(tag, 0) + 1
                    if row.transformation:
                        made[row.transformation] = made.get(row.transformation, 0) + 1
                writer.write_table(_table(batch, twins))
                count += len(batch)
        with waiting.open("rb") as file:
            os.fsync(file.fileno())
        digest = counting.hexdigest()
        target = path(settings, digest)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        waiting.replace(target)
    finally:
        waiting.unlink(missing_ok=True)
    return Written(digest, count, tags, made)


def read(settings: Settings, digest: str, first: int = 0, rows: int | None = None) -> Iterator[Stored]:
    """The rows from number `first` on, at most `rows` of them, a row group at a time in memory.

    Raises FileNotFoundError where the file is gone.
    """
    with pq.ParquetFile(path(settings, digest)) as file:
        left = rows if rows is not None else file.metadata.num_rows
        at = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if left <= 0:
                return
            if first < at + size:
                table = file.read_row_group(group).slice(max(0, first - at), left)
                left -= len(table)
                yield from map(_row, table.to_pylist())
            at += size


def digest(rows: Iterable[Stored]) -> str:
    """SHA-256 of rows in order, as hexadecimal digits: of the same rows the same, whatever file held them."""
    counting = hashlib.sha256()
    for row in rows:
        counting.update(_line(row))
    return counting.hexdigest()


def _line(row: Stored) -> bytes:
    said = [row.uid, dict(row.inputs), list(row.answers), list(row.tags), row.of, row.transformation]
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE)


def _batches(rows: Iterable[Stored]) -> Iterator[list[Stored]]:
    batch: list[Stored] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _table(batch: list[Stored], twins: bool) -> pa.Table:
    columns: dict[str, list[Any]] = {
        "uid": [row.uid for row in batch],
        "inputs": [orjson.dumps(dict(row.inputs), option=orjson.OPT_SORT_KEYS).decode() for row in batch],
        "answers": [orjson.dumps(list(row.answers), option=orjson.OPT_SORT_KEYS).decode() for row in batch],
        "tags": [list(row.tags) for row in batch],
    }
    if twins:
        columns |= {"of": [row.of for row in batch], "transformation": [row.transformation for row in batch]}
    return pa.table(columns, schema=TWINS if twins else SCHEMA)


def _row(values: dict[str, Any]) -> Stored:
    return Stored(
        uid=values["uid"],
        inputs=orjson.loads(values["inputs"]),
        answers=tuple(orjson.loads(values["answers"])),
        tags=tuple(values["tags"]),
        of=values.get("of") or "",
        transformation=values.get("transformation") or "",
    )
