"""Tables as CSV (RFC 4180) that spreadsheets take as they are: in UTF-8 with a byte order mark, and never run."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence

FORMULA = tuple("=+-@\t\r\n'＝＋－＠")
"""What a spreadsheet may take for the beginning of a formula, and the mark that keeps it from that."""
BOM = "\ufeff"  # without it spreadsheets take UTF-8 for the letters of their country
LINES = 500  # in one piece


def guarded(text: str) -> str:
    """A text that no spreadsheet takes for a formula, and that differs from an empty cell: marked where it must be."""
    return f"'{text}" if not text or text.startswith(FORMULA) else text


def unguarded(cell: str) -> str:
    """Return the text from which `guarded` made the cell."""
    return cell[1:] if cell.startswith("'") else cell


def pieces(header: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A sheet, some lines at a time, so that no table is too long; empty texts stay empty cells."""
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    buffer.write(BOM)
    writer.writerow(map(_safe, header))
    for number, row in enumerate(rows, start=1):
        writer.writerow(map(_safe, row))
        if number % LINES == 0:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()


def as_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A whole sheet."""
    return "".join(pieces(header, rows)).encode()


def _safe(cell: object) -> object:
    return guarded(cell) if isinstance(cell, str) and cell else cell
