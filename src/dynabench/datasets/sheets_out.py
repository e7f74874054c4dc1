"""Tables as CSV files that spreadsheets take as they are; among them refused rows, to be mended and sent again."""

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse

from dynabench.datasets.shapes import guarded
from dynabench.db import Database
from dynabench.rounds import queries
from dynabench.rounds.tables import RefusedRow

AT_ONCE = 1_000
BOM = "\ufeff"  # spreadsheets ask for it
CSV = "text/csv; charset=utf-8"


def as_csv(header: Sequence[str], lines: Sequence[Sequence[Any]]) -> bytes:
    """A sheet (RFC 4180) in UTF-8 with a byte order mark, whose texts no spreadsheet takes for formulas."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    writer.writerows(map(_safe, line) for line in lines)
    return (BOM + text.getvalue()).encode()


def sheet(name: str, header: Sequence[str], lines: Sequence[Sequence[Any]]) -> Response:
    """A table as a file to be saved under `name`."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(as_csv(header, lines), media_type=CSV, headers=headers)


def refused_file(db: Database, job: str, name: str) -> Response:
    """The rows that a job refused, read as they are sent."""
    columns = list(dict.fromkeys(column for row in _all(db, job) for column in row.values or {}))
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(_lines(db, job, columns), media_type=CSV, headers=headers)


def _lines(db: Database, job: str, columns: Sequence[str]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["row", "reason", *map(_safe, columns)])
    for number, row in enumerate(_all(db, job), start=1):
        values = row.values or {}
        writer.writerow([row.row, _safe(row.message), *(_safe(values.get(column, "")) for column in columns)])
        if number % AT_ONCE == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _safe(cell: object) -> object:
    return guarded(cell) if isinstance(cell, str) and cell else cell


def _all(db: Database, job: str) -> Iterator[RefusedRow]:
    def some(session: Session, after: int) -> Sequence[RefusedRow]:
        return session.scalars(queries.refused(job, after, AT_ONCE)).all()

    after = 0
    while found := db.read(some, after):
        yield from found
        after = found[-1].row
