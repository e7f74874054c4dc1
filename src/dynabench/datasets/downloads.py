"""Downloads: exports and the rows of public datasets, sent while they are read."""

import csv
import io
from collections.abc import AsyncIterator, Generator, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import Any

import orjson
from anyio import CancelScope, to_thread
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from dynabench.datasets import exports, stored
from dynabench.datasets.formats import FORMATS
from dynabench.datasets.scopes import ExportScope as What
from dynabench.datasets.stored import StoredRow
from dynabench.kit import errors
from dynabench.kit.csv_tables import guarded
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.media.store import MediaStore

MOST_RUNNING = 4  # in one process: each holds a connection and a snapshot
_running = 0


class Download(StreamingResponse):
    """Sends what a generator makes, in a thread; however it ends, the generator's transaction ends with it."""

    def __init__(self, parts: Generator[bytes, None, None], **how: Any) -> None:
        self.parts = parts
        super().__init__(self._parts(), **how)

    async def _parts(self) -> AsyncIterator[bytes]:
        while (part := await to_thread.run_sync(next, self.parts, None)) is not None:
            yield part

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send, then clean up."""
        global _running
        if _running >= MOST_RUNNING:
            raise errors.Unavailable(_("Several exports are running. Try again in a minute."), retry_after=60)
        _running += 1
        try:
            await super().__call__(scope, receive, send)
        finally:
            _running -= 1
            with CancelScope(shield=True), suppress(ValueError):
                await to_thread.run_sync(self.parts.close)


def export_response(db: Database, settings: Settings, scope: What, form: str) -> Response:
    """The response that carries an export."""
    kind = FORMATS[form]
    scope = replace(scope, files=MediaStore.of(settings))

    def parts() -> Generator[bytes, None, None]:
        yield from kind.write(exports.read_records(db, settings, scope), scope)

    headers = {"Content-Disposition": f'attachment; filename="{scope.name}{kind.ending}"'}
    if form in ("parquet", "zip"):  # compressed already
        headers["Content-Encoding"] = "identity"
    return Download(parts(), media_type=kind.media_type, headers=headers)


DATASET_MEDIA_TYPES = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
LINES_AT_ONCE = 500
PIECE = 1024**2


def row_document(row: StoredRow) -> dict[str, Any]:
    """A row as our JSONL files have it."""
    return {"uid": row.uid, "inputs": row.inputs, "answers": list(row.answers), "tags": list(row.tags)}


def dataset_file_parts(settings: Settings, digest: str, form: str) -> Iterator[bytes]:
    """The bytes of a file with all rows of a version."""
    if form == "parquet":
        with stored.rows_path(settings, digest).open("rb") as file:
            yield from iter(lambda: file.read(PIECE), b"")
    elif form == "csv":
        yield from _csv(stored.read_rows(settings, digest))
    else:
        some: list[bytes] = []
        for row in stored.read_rows(settings, digest):
            some.append(orjson.dumps(row_document(row), option=orjson.OPT_APPEND_NEWLINE))
            if len(some) == LINES_AT_ONCE:
                yield b"".join(some)
                some = []
        yield b"".join(some)


def _csv(rows: Iterator[StoredRow]) -> Iterator[bytes]:
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
        if number % LINES_AT_ONCE == 0:
            yield buffer.getvalue().encode()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue().encode()


def _cell(value: Any) -> object:
    return _safe(value) if isinstance(value, str) else "" if value is None else orjson.dumps(value).decode()


def _safe(text: str) -> str:
    return guarded(text) if text else ""
