"""Rows of datasets and of their twins in Parquet files named after their content.

A file lies at `datasets/ab/abcdef....parquet` below the home folder, is written once and never changed. Columns:
`uid`, `inputs` (JSON object by input field), `answers` (JSON list of acceptable answers, the first is the reference;
an answer is a JSON object by answer field), `tags` (list); twins have `of` (the original's uid) and `transformation`.
"""

import hashlib
import os
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from dynabench.kit.settings import Settings

GROUP_ROWS = 10_000
"""Rows of one row group."""
SOME, LARGE = 500, 16 * 1024**2  # rows that are looked at together; bytes of text at which a row group ends early
Texts = tuple[bytes, bytes]
_TEXT = pa.string()
_PLAIN = [("uid", _TEXT), ("inputs", _TEXT), ("answers", _TEXT), ("tags", pa.list_(_TEXT))]
SCHEMA = pa.schema(_PLAIN)
TWINS = pa.schema([*_PLAIN, ("of", _TEXT), ("transformation", _TEXT)])


@dataclass(frozen=True, slots=True)
class StoredRow:
    """One row: what a model gets, the answers that count as right, and the slices it belongs to.

    `original_uid` and `transformation` are those of a twin's row.
    """

    uid: str
    inputs: Mapping[str, Any]
    answers: tuple[Mapping[str, Any], ...]
    tags: tuple[str, ...] = ()
    original_uid: str = ""
    transformation: str = ""


@dataclass(frozen=True)
class WrittenRows:
    """The result of writing rows.

    It has the digest of all rows in order, their number, and the number of rows with each tag and each
    transformation.
    """

    digest: str
    rows: int
    tags: dict[str, int]
    transformations: dict[str, int]


def rows_path(settings: Settings, digest: str) -> Path:
    """Return the path of the file with the rows of this digest."""
    return settings.folder / "datasets" / digest[:2] / f"{digest}.parquet"


def write_rows(settings: Settings, rows: Iterable[StoredRow], twins: bool = False) -> WrittenRows:
    """Store rows, at most `BATCH` at a time in memory. The same rows in the same order are stored once."""
    folder = settings.folder / "datasets"
    folder.mkdir(mode=0o700, exist_ok=True)
    waiting = folder / f".{uuid.uuid4()}"
    counting, tags, transformations, count = hashlib.sha256(), Counter[str](), Counter[str](), 0
    try:
        with pq.ParquetWriter(waiting, TWINS if twins else SCHEMA, compression="zstd") as writer:
            group = _Group(twins)
            coming = iter(rows)
            while some := list(islice(coming, SOME)):
                counting.update(group.add(some))
                tags.update(chain.from_iterable(row.tags for row in some if row.tags))
                transformations.update(row.transformation for row in some if row.transformation)
                count += len(some)
                if group.full:
                    writer.write_table(group.table())
                    group = _Group(twins)
            writer.write_table(group.table())
        with waiting.open("rb") as file:
            os.fsync(file.fileno())
        digest = counting.hexdigest()
        target = rows_path(settings, digest)
        target.parent.mkdir(mode=0o700, exist_ok=True)
        waiting.replace(target)
    finally:
        waiting.unlink(missing_ok=True)
    return WrittenRows(digest, count, dict(tags), dict(transformations))


def read_rows(settings: Settings, digest: str, first: int = 0, rows: int | None = None) -> Iterator[StoredRow]:
    """The rows from number `first` on, at most `rows` of them, a row group at a time in memory.

    Raises FileNotFoundError where the file is gone.
    """
    with pq.ParquetFile(rows_path(settings, digest)) as file:
        rows_left = rows if rows is not None else file.metadata.num_rows
        at = 0
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            if rows_left <= 0:
                return
            if first < at + size:
                table = file.read_row_group(group).slice(max(0, first - at), rows_left)
                rows_left -= len(table)
                yield from map(_row, table.to_pylist())
            at += size


def rows_digest(rows: Iterable[StoredRow]) -> str:
    """SHA-256 of rows in order, as hexadecimal digits: of the same rows the same, whatever file held them."""
    counting = hashlib.sha256()
    for row in rows:
        counting.update(_joined(row, _texts(row)))
    return counting.hexdigest()


def _texts(row: StoredRow) -> Texts:
    """Inputs and answers as JSON, which the digest and the file have in common."""
    inputs = row.inputs if type(row.inputs) is dict else dict(row.inputs)
    return orjson.dumps(inputs, option=orjson.OPT_SORT_KEYS), orjson.dumps(row.answers, option=orjson.OPT_SORT_KEYS)


def _joined(row: StoredRow, texts: Texts) -> bytes:
    """A row as the digest counts it: the JSON list of its members, keys sorted, and a line's end."""
    tags = orjson.dumps(row.tags) if row.tags else b"[]"
    end = (
        orjson.dumps([row.original_uid, row.transformation])[1:]
        if row.original_uid or row.transformation
        else b'"",""]'
    )
    return b"[%b,%b,%b,%b,%b\n" % (orjson.dumps(row.uid), *texts, tags, end)


class _Column:
    """Texts in UTF-8 as they come, put together at once: what orjson gives holds several times its length in memory.

    Arrow's column is made of buffers, because `pa.array` of a list would import pandas, which takes 150 MB.
    """

    def __init__(self) -> None:
        self.parts, self.lengths, self.size = list[bytes](), list[int](), 0

    def add(self, texts: list[bytes]) -> None:
        """Take some texts."""
        self.parts.append(b"".join(texts))
        self.lengths += map(len, texts)
        self.size += len(self.parts[-1])

    def array(self) -> pa.Array:
        """The column."""
        data = pa.py_buffer(b"".join(self.parts))
        return pa.StringArray.from_buffers(len(self.lengths), _offsets(self.lengths), data)


class _Group:
    """A row group on its way."""

    def __init__(self, twins: bool) -> None:
        self.schema = TWINS if twins else SCHEMA
        self.columns = [_Column() for _ in self.schema]  # of tags the texts, whose numbers by row stand in `tagged`
        self.tagged: list[int] = []

    @property
    def full(self) -> bool:
        """True once the group is large enough to be written."""
        return len(self.tagged) >= GROUP_ROWS or sum(column.size for column in self.columns) >= LARGE

    def add(self, rows: list[StoredRow]) -> bytes:
        """Take some rows; their lines for the digest."""
        texts = list(map(_texts, rows))
        lines = b"".join(map(_joined, rows, texts))
        self.columns[0].add([row.uid.encode() for row in rows])
        self.columns[1].add([inputs for inputs, _ in texts])
        self.columns[2].add([answers for _, answers in texts])
        self.columns[3].add([tag.encode() for row in rows for tag in row.tags])
        self.tagged += [len(row.tags) for row in rows]
        if self.schema is TWINS:
            self.columns[4].add([row.original_uid.encode() for row in rows])
            self.columns[5].add([row.transformation.encode() for row in rows])
        return lines

    def table(self) -> pa.Table:
        """The rows as columns."""
        arrays = [column.array() for column in self.columns]
        ends = _offsets(self.tagged)
        lists = pa.list_(_TEXT)
        arrays[3] = pa.ListArray.from_buffers(lists, len(self.tagged), [None, ends], children=[arrays[3]])
        return pa.Table.from_arrays(arrays, schema=self.schema)


def _offsets(lengths: list[int]) -> pa.Buffer:
    """Return the offsets at which each part begins and the last one ends; shape (n + 1,)."""
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    if ends[-1] >= 2**31:
        raise ValueError("a group of rows holds more than 2 GiB of text")
    return pa.py_buffer(ends.astype(np.int32))


def _row(values: dict[str, Any]) -> StoredRow:
    return StoredRow(
        uid=values["uid"],
        inputs=orjson.loads(values["inputs"]),
        answers=tuple(orjson.loads(values["answers"])),
        tags=tuple(values["tags"]),
        original_uid=values.get("of") or "",
        transformation=values.get("transformation") or "",
    )
