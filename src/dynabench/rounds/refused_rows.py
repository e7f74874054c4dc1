"""The rows that an import left out, as a file to be mended and sent again."""

from collections.abc import Iterator, Sequence

from sqlalchemy.orm import Session
from starlette.responses import Response

from dynabench.db import Database
from dynabench.rounds import queries
from dynabench.rounds.tables import RefusedRow
from dynabench.web.csv_files import csv_file

AT_ONCE = 1_000


def refused_file(db: Database, job: str, name: str) -> Response:
    """A CSV file called `name`: each row as its file had it, with its number and the reason; read as it is sent."""
    columns = list(dict.fromkeys(column for row in _all(db, job) for column in row.values or {}))
    return csv_file(name, [*columns, "row", "reason"], _cells(db, job, columns))


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
