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


def is_data(path: Path) -> bool:
    """Whether its name says that this file holds rows."""
    return ending_of(path) in ENDINGS


def ending_of(path: Path) -> str:
    """The ending that says the format, in lower case; that of what is packed for `.gz`."""
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def text_of(path: Path) -> str:
    """The file's text, unpacked. Raises ValueError where it is not UTF-8."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return raw.decode("utf-8-sig")


def read(path: Path) -> tuple[Columns, bool]:
    """The file's columns, and whether all values are text for want of types (CSV).

    CSV and TSV have a header; JSON is a list of objects or an object of columns; `.gz` is unpacked. Raises ValueError
    for what cannot be read.
    """
    ending = ending_of(path)
    if ending not in ENDINGS:
        raise ValueError(f"{path} ends in none of {', '.join(ENDINGS)}, perhaps with .gz")
    if ending == ".parquet":
        return _parquet(path), False
    try:
        return parsed(text_of(path), ending in (".jsonl", ".ndjson"), "\t" if ending == ".tsv" else "")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parsed(text: str, by_line: bool = False, delimiter: str = "") -> tuple[Columns, bool]:
    """Columns by name from JSON (rows or columns), JSON lines, or CSV with a header; whether all cells are untyped.

    `by_line` says that an object stands for a row, whatever it holds; CSV is separated by `delimiter`, by default by
    what its header has most of. Raises ValueError, with the line where there is one, for what is none of them.
    """
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").strip(" \r\n")  # a tab may stand for an empty cell
    if not text.strip():
        raise ValueError("the table is empty")
    if text.lstrip()[0] not in "[{":
        return _cells(text, delimiter or _delimiter(text)), True
    found = _documents(text)
    if isinstance(found, dict):
        if not by_line and all(isinstance(part, list) for part in found.values()):
            return found, False
        found = [found]
    if not found:
        raise ValueError("the table is empty")
    return columns_of(found), False


def columns_of(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Rows as columns. Raises ValueError where a row is no dictionary or has other keys than the first."""
    if not rows:
        return {}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} is {row!r:.80}; give each row as an object (a dictionary) of its columns")
        if row.keys() != rows[0].keys():
            other = ", ".join(sorted(map(str, row.keys() ^ rows[0].keys())))
            raise ValueError(f"row {number} differs from row 0 in its columns: {other}")
    return {str(name): [row[name] for row in rows] for name in rows[0]}


def refused(name: str) -> None:
    """For `parse_constant` of JSON. Raises ValueError."""
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


def _delimiter(text: str) -> str:
    header = text.partition("\n")[0]
    return max(DELIMITERS, key=lambda mark: (header.count(mark), mark == ","))


def _documents(text: str) -> Any:
    """One JSON value, or the list of those of each line: files of JSON lines are also called .json."""
    try:
        return json.loads(text, parse_constant=refused)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as whole:
        lines = [line for line in text.split("\n") if line.strip()]
        if len(lines) < 2:
            raise ValueError(f"this is no JSON: {whole.msg} at line {whole.lineno}") from None
        return [_row(number, line) for number, line in enumerate(lines)]


def _row(number: int, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=refused)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"row {number} is no JSON") from None


def _parquet(path: Path) -> Columns:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet files are read with pyarrow: pip install pyarrow") from None
    columns: Columns = parquet.read_table(path).to_pydict()
    return columns
