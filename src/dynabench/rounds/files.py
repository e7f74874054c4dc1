"""Contexts from files: the rows that the reader gives, as contexts of a task."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dynabench.intake import reader
from dynabench.intake.mapping import ColumnMapping
from dynabench.intake.text_rows import FileRow
from dynabench.kit.db import Database
from dynabench.rounds import contexts, service
from dynabench.rounds.contexts import Row, Upload

WRAPPERS = ("values", "context")  # members that hold a row's fields; `context` is the older platform's


def upload(
    db: Database, task_id: str, file: Path, progress: Callable[[int], object], mapping: ColumnMapping | None = None
) -> Upload:
    """Store a file's contexts, a batch per transaction; `progress` is told the bytes read so far.

    Lines are counted from 1 (in CSV the header is line 1). Raises `Invalid` for a file of another kind.
    """
    config = db.read(service.newest_config, task_id)
    result = Upload()
    rows = (context_row(row, mapping) for row in read_fields(file, progress))
    for batch in contexts.batches(rows):
        result += db.write(contexts.add, task_id, config, batch)
    db.write(service.act, None, "contexts.uploaded", task=task_id, created=result.created)
    return result


def mapping_of(payload: dict[str, Any]) -> ColumnMapping | None:
    """Return the mapping in a job's payload; None means that the columns are called like the fields."""
    return ColumnMapping.model_validate(payload["mapping"]) if payload.get("mapping") else None


def read_fields(file: Path, progress: Callable[[int], object] = lambda _: None) -> Iterator[FileRow]:
    """Yield the rows of a file; fields that are wrapped in `values` stand beside the other members."""
    return map(unwrap_fields, reader.read_rows(file, progress=progress))


def unwrap_fields(row: FileRow) -> FileRow:
    """Return a row whose fields were wrapped in `values` or `context` with these fields and its `tag`."""
    wrapped = (row.values.get(name) for name in WRAPPERS) if row.values else ()
    fields = next((values for values in wrapped if isinstance(values, dict)), None)
    if fields is None or row.values is None:
        return row
    return FileRow(row.number, {**fields, "tag": row.values["tag"]} if "tag" in row.values else fields)


def context_row(row: FileRow, mapping: ColumnMapping | None = None) -> Row:
    """Return a row of a file as a context; without a mapping its columns are the fields and `tag`."""
    if row.values is None:
        return Row(row.number, None, error=row.error)
    if mapping is None:
        values = dict(row.values)
        return Row(row.number, values, values.pop("tag", ""))
    values, tag = mapping.read_context(row.values)
    return Row(row.number, values, str(tag) if isinstance(tag, int | float) else tag)
