"""Columns from rows, from text (CSV, JSON and JSON lines) and from data files."""

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
DELIMITERS = ",;\t"
Columns = dict[str, list[Any]]


def is_data_file(path: Path) -> bool:
    """Return whether the name of a file has an ending of data files."""
    return ending_of(path) in ENDINGS


def ending_of(path: Path) -> str:
    """Return the ending that names the format, in lower case; for `.gz` that of the packed file."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def text_of(path: Path) -> str:
    """Return the file's text, unpacked. Raises ValueError where it is not UTF-8."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return raw.decode("utf-8-sig")


def read_table(path: Path) -> tuple[Columns, bool]:
    """Return the file's columns, and whether all values are text because the format has no types (CSV).

    CSV and TSV have a header; JSON is a list of objects or an object of columns; `.gz` is unpacked. Raises
    ValueError for a file that cannot be read.
    """
    ending = ending_of(path)
    if ending not in ENDINGS:
        raise ValueError(f"{path} ends in none of {', '.join(ENDINGS)}, perhaps with .gz")
    if ending == ".parquet":
        return _parquet(path), False
    try:
        return parse_columns(text_of(path), ending in (".jsonl", ".ndjson"), "\t" if ending == ".tsv" else "")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_columns(text: str, by_line: bool = False, delimiter: str = "") -> tuple[Columns, bool]:
    """Return columns by name from JSON (rows or columns), JSON lines, or CSV with a header.

    Whether all cells are untyped.

    `by_line` says that an object stands for a row, whatever it holds; CSV is separated by `delimiter`, by default
    by the most frequent separator of its header. Raises ValueError, with the line where there is one, for any
    other text.
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").strip(" \r\n")  # a tab may stand for an empty cell
    if not text.strip():
        raise ValueError("the table is empty")
    if text.lstrip()[0] not in "[{":
        header = text.partition("\n")[0]
        likely = max(DELIMITERS, key=lambda mark: (header.count(mark), mark == ","))
        return _cells(text, delimiter or likely), True
    document = _documents(text)
    if isinstance(document, dict):
        if not by_line and all(isinstance(part, list) for part in document.values()):
            return document, False
        document = [document]
    if not document:
        raise ValueError("the table is empty")
    return columns_of(document), False


def columns_of(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Return rows as columns. Raises ValueError where a row is no dictionary or has other keys than the first."""
    if not rows:
        return {}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} is {row!r:.80}; give each row as an object (a dictionary) of its columns")
        if row.keys() != rows[0].keys():
            other = ", ".join(sorted(map(str, row.keys() ^ rows[0].keys())))
            raise ValueError(f"row {number} differs from row 0 in its columns: {other}")
    return {str(name): [row[name] for row in rows] for name in rows[0]}


def refuse_constant(name: str) -> None:
    """Raise ValueError: for `parse_constant` of JSON."""
    raise ValueError(f"{name} is no number that can be computed with")


def _cells(text: str, delimiter: str) -> Columns:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header, *rows = list(reader)
    except csv.Error as error:
        raise ValueError(f"line {reader.line_num} of the CSV cannot be read: {error}") from None
    header = [name.strip() for name in header]
    if len(set(header)) < len(header):
        raise ValueError("two columns of the table have the same name")
    rows = [row for row in rows if row]
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} cells, the header has {len(header)}")
    return {name: [row[at] for row in rows] for at, name in enumerate(header)}


def _documents(text: str) -> Any:
    """One JSON value, or the list of those of each line: files of JSON lines are also called .json."""
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as whole:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            raise ValueError(f"this is no JSON: {whole.msg} at line {whole.lineno}") from None
        return [_row(number, line) for number, line in enumerate(lines)]


def _row(number: int, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=refuse_constant)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"row {number} is no JSON") from None


def _parquet(path: Path) -> Columns:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet files are read with pyarrow: pip install pyarrow") from None
    columns: Columns = parquet.read_table(path).to_pydict()
    return columns
