"""Tables that are downloaded: CSV, written as it is read, so that no table is too long."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

from starlette.responses import StreamingResponse

LINES = 500  # in one piece
FORMULA = tuple("=+-@\t\r＝＋－＠")  # what spreadsheets would run


def csv_file(name: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> StreamingResponse:
    """A CSV file called `name` (plain ASCII) to download, of which no spreadsheet runs anything."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return StreamingResponse(_pieces(header, rows), media_type="text/csv; charset=utf-8", headers=headers)


def _pieces(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The lines of the file, some at a time."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(map(_plain, header))
    for number, row in enumerate(rows, start=1):
        writer.writerow(map(_plain, row))
        if number % LINES == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def _plain(cell: object) -> object:
    """A text that a spreadsheet would take for a formula, with an apostrophe before it."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
