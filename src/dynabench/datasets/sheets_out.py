"""Refused rows as a CSV file: what stood there, with number and reason, to be mended and sent again."""

import csv
import io
from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session
from starlette.responses import Response, StreamingResponse

from dynabench.datasets.shapes import guarded
from dynabench.db import Database
from dynabench.rounds import queries
from dynabench.rounds.tables import RefusedRow

AT_ONCE = 1_000


def refused_file(db: Database, job: str, name: str) -> Response:
    """The rows that a job refused, read as they are sent."""
    columns = list(dict.fromkeys(column for row in _all(db, job) for column in row.values or {}))
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(_lines(db, job, columns), media_type="text/csv; charset=utf-8", headers=headers)


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
