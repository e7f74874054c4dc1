"""Rows of public datasets as files, read from the store as they are sent."""

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import Any

import orjson

from dynabench.datasets import stored
from dynabench.datasets.stored import Stored
from dynabench.kit.csv_tables import guarded
from dynabench.kit.settings import Settings

FORMATS = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
LINES = 500
PIECE = 1024**2


def document(row: Stored) -> dict[str, Any]:
    """A row as our JSONL files have it."""
    return {"uid": row.uid, "inputs": row.inputs, "answers": list(row.answers), "tags": list(row.tags)}


def parts(settings: Settings, digest: str, form: str) -> Iterator[bytes]:
    """The bytes of a file with all rows of a version."""
    if form == "parquet":
        with stored.path(settings, digest).open("rb") as file:
            yield from iter(lambda: file.read(PIECE), b"")
    elif form == "csv":
        yield from _csv(stored.read(settings, digest))
    else:
        some: list[bytes] = []
        for row in stored.read(settings, digest):
            some.append(orjson.dumps(document(row), option=orjson.OPT_APPEND_NEWLINE))
            if len(some) == LINES:
                yield b"".join(some)
                some = []
        yield b"".join(some)


def _csv(rows: Iterator[Stored]) -> Iterator[bytes]:
    """Inputs by column, answers as JSON, tags with commas; nothing that a spreadsheet would run."""
    first = next(rows, None)
    names = sorted(first.inputs) if first else []
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["uid", *map(_safe, names), "answers", "tags"])
    for number, row in enumerate(chain([first] if first else [], rows), start=1):
        cells = [_cell(row.inputs.get(name)) for name in names]
        tags = (
            orjson.dumps(list(row.tags)).decode()
            if any(mark in tag for tag in row.tags for mark in ",;|[")
            else ", ".join(row.tags)
        )
        writer.writerow([_safe(row.uid), *cells, orjson.dumps(list(row.answers)).decode(), _safe(tags)])
        if number % LINES == 0:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _cell(value: Any) -> object:
    return _safe(value) if isinstance(value, str) else "" if value is None else orjson.dumps(value).decode()


def _safe(text: str) -> str:
    return guarded(text) if text else ""
