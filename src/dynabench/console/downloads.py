"""Tables that are downloaded: CSV, written as it is read, so that no table is too long."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from starlette.responses import StreamingResponse

LINES = 500  # in one piece
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets would run


def plain(cell: object) -> object:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def pieces(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of a CSV file, some at a time."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(header)
    for number, row in enumerate(rows, start=1):
        writer.writerow(row)
        if number % LINES == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def csv_file(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingResponse:
    """A CSV file called `name` (plain ASCII) to download."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(pieces(header, rows), media_type="text/csv; charset=utf-8", headers=headers)
