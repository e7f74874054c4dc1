"""Data files as columns."""

import csv
import gzip
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ENDINGS = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet")
Columns = dict[str, list[Any]]


def is_data(path: Path) -> bool:
    """Whether its name says that this file holds rows."""
    return _ending(path) in ENDINGS


def read(path: Path) -> tuple[Columns, bool]:
    """The file's columns, and whether all values are text for want of types (CSV).

    CSV and TSV have a header; JSON is a list of objects or an object of columns; `.gz` is unpacked. Raises ValueError,
    with the line, for what cannot be read.
    """
    ending = _ending(path)
    if ending == ".parquet":
        return _parquet(path), False
    if ending not in ENDINGS:
        raise ValueError(f"{path} is none of {', '.join(ENDINGS)} (each perhaps with .gz)")
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode("utf-8-sig")
    if ending in (".csv", ".tsv"):
        return _csv(text, "\t" if ending == ".tsv" else ",", path), True
    if ending == ".json" and text.lstrip()[:1] in ("[", "{") and _is_whole(text):
        content = json.loads(text)
        return (columns_of(content) if isinstance(content, list) else _given(content, path)), False
    return columns_of(_lines(text, path)), False


def columns_of(rows: Sequence[Mapping[str, Any]]) -> Columns:
    """Rows as columns. Raises ValueError where a row is no dictionary or has other keys than the first."""
    if not rows:
        return {}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} is {row!r}; give each row as a dictionary of its columns")
        if row.keys() != rows[0].keys():
            other = ", ".join(sorted(map(str, row.keys() ^ rows[0].keys())))
            raise ValueError(f"row {number} differs from row 0 in its columns: {other}")
    return {str(name): [row[name] for row in rows] for name in rows[0]}


def _ending(path: Path) -> str:
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()


def _is_whole(text: str) -> bool:
    """Whether the text is one JSON value: files of JSON lines are also called .json."""
    try:
        _, end = json.JSONDecoder().raw_decode(text.strip())
    except json.JSONDecodeError:
        return False
    return end == len(text.strip())


def _given(content: Any, path: Path) -> Columns:
    if not all(isinstance(column, list) for column in content.values()):
        raise ValueError(f"{path} holds one object; give a list of rows, an object of columns or JSON lines")
    return dict(content)


def _lines(text: str, path: Path) -> list[Any]:
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}, line {number}: {error}") from None
    return rows


def _csv(text: str, separator: str, path: Path) -> Columns:
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    header, body = (rows[0], [row for row in rows[1:] if row]) if rows else ([], [])
    for number, row in enumerate(body):
        if len(row) != len(header):
            raise ValueError(f"{path}: row {number} has {len(row)} values, the header has {len(header)}")
    return {name: [row[place] for row in body] for place, name in enumerate(header)}


def _parquet(path: Path) -> Columns:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet files are read with pyarrow: pip install pyarrow") from None
    columns: Columns = parquet.read_table(path).to_pydict()
    return columns
