"""Tables that were downloaded, read as Python's own reader reads them."""

import csv
import io


def rows_of(text: str) -> list[dict[str, str]]:
    """The rows of a CSV file by the names of their columns; it has the byte order mark that spreadsheets ask for."""
    assert text.startswith("\ufeff")
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))
