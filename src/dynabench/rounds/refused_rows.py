"""The rows that an import left out: kept by its job, and written as a file to be mended and sent again."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import insert
from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.intake.bad_rows import BadRow
from dynabench.kit.api import csv_response
from dynabench.kit.db import Database
from dynabench.kit.storable import UNSTORABLE, unstorable
from dynabench.rounds import queries
from dynabench.rounds.tables import RefusedRow

AT_ONCE = 1_000


def store_bad_rows(session: Session, job_id: str, rows: Iterable[BadRow]) -> None:
    """Keep the rows that an import left out, as the file had them."""
    refused = [
        {
            "job_id": job_id,
            "row": row.number,
            "message": UNSTORABLE.sub("\ufffd", row.message),
            "values": _storable_values(row.values),
        }
        for row in rows
    ]
    if refused:
        session.execute(insert(RefusedRow), refused)


def _storable_values(values: Mapping[str, Any]) -> dict[str, Any] | None:
    # Files of JSON may hold what the database cannot: NaN, NUL or half a surrogate pair.
    plain = dict(values)
    try:
        json.dumps(plain, allow_nan=False)
    except (TypeError, ValueError):
        return None
    return None if any(unstorable(plain)) else plain or None


def refused_file(db: Database, job: str, name: str) -> Response:
    """A CSV file called `name`: each row as its file had it, with its number and the reason; read as it is sent."""
    columns = list(dict.fromkeys(column for row in _all(db, job) for column in row.values or {}))
    return csv_response(name, [*columns, "row", "reason"], _cells(db, job, columns))


def _cells(db: Database, job: str, columns: Sequence[str]) -> Iterator[list[object]]:
    for row in _all(db, job):
        values = row.values or {}
        yield [*(values.get(name, "") for name in columns), row.row, row.message]


def _all(db: Database, job: str) -> Iterator[RefusedRow]:
    def some(session: Session, after: int) -> Sequence[RefusedRow]:
        return session.scalars(queries.refused(job, after, AT_ONCE)).all()

    after = 0
    while found := db.read(some, after):
        yield from found
        after = found[-1].row
