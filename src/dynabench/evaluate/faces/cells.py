"""Columns from text: lines, CSV and JSON, as people paste them or keep them in files.

What a cell means depends on the column: a line of a text column is that text, a line of labels is a number where all
of them are. Lists and dictionaries are written as JSON.
"""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.evaluate.columns import Column, Labels, Numbers, References, Texts, Tokens

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
WHOLE = re.compile(r"[-+]?\d{1,18}")
DELIMITERS = ",;\t"
Rows = dict[str, list[Any]]


def values(column: Column, cells: Sequence[str]) -> list[Any]:
    """What the texts of a column's cells mean, one value each. Nothing is refused here: the column itself does."""
    if isinstance(column, Texts):
        return list(cells)
    if isinstance(column, References):
        return [_json(cell, list, cell) for cell in cells]
    if isinstance(column, Tokens):
        return [_json(cell, list, cell.split()) for cell in cells]
    if isinstance(column, Labels | Numbers):
        return scalars(cells)
    return [_json(cell, object, cell) for cell in cells]


def scalars(cells: Sequence[str]) -> list[Any]:
    """Cells as numbers where each is one or a JSON list, else as texts; what is empty becomes None."""
    read = [None if not cell.strip() else _number(cell.strip()) for cell in cells]
    if any(isinstance(value, str) for value in read):
        return [cell.strip() or None for cell in cells]
    return read


def lines(column: Column, given: Sequence[Any]) -> str | None:
    """`given` as lines that `values` reads back to the same; None where no lines do, such as texts with line breaks."""
    texts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in given]
    text = "\n".join(texts)
    return text if split(text) == texts and values(column, texts) == _plain(given) else None


def hint(column: Column) -> str:
    """How a value of this column is written on a line, where that is not plain to see."""
    if isinstance(column, Tokens):
        return ", separated by spaces or as a JSON list"
    if isinstance(column, References):
        return ' as JSON: ["one", "other"]'
    if isinstance(column, Texts | Labels | Numbers):
        return ""
    return ", lists and dictionaries as JSON"


def split(text: str) -> list[str]:
    """Lines of a text, without empty ones at its end."""
    found = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while found and not found[-1].strip():
        found.pop()
    return found


def table(text: str, known: Mapping[str, Column]) -> Rows:
    """Columns by name from a table: JSON (rows or columns), JSON lines, or CSV with a header.

    Raises ValueError, with the line where there is one, for what is none of them.
    """
    found, untyped = raw(text)
    if not untyped:
        return found
    return {name: values(known[name], part) if name in known else scalars(part) for name, part in found.items()}


def raw(text: str) -> tuple[Rows, bool]:
    """Columns as `table` reads them, and whether their cells are texts that have no type yet, as in CSV."""
    text = text.removeprefix("\N{ZERO WIDTH NO-BREAK SPACE}").strip()
    if not text:
        raise ValueError("the table is empty")
    return (_columns(_documents(text)), False) if text[0] in "[{" else (_cells(text), True)


def _cells(text: str) -> dict[str, list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
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
    try:
        return json.loads(text, parse_constant=_refused)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except json.JSONDecodeError as whole:
        rows = [line for line in text.splitlines() if line.strip()]
        if len(rows) < 2:
            raise ValueError(f"this is no JSON: {whole.msg} at line {whole.lineno}") from None
        return [_row(number, row) for number, row in enumerate(rows)]


def _row(number: int, text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refused)
    except (json.JSONDecodeError, RecursionError):
        raise ValueError(f"row {number} is no JSON") from None


def _refused(name: str) -> None:
    raise ValueError(f"{name} is no number that can be computed with")


def _columns(found: Any) -> Rows:
    """Columns from a dictionary of them, or from rows that all have the same keys."""
    if isinstance(found, dict) and all(isinstance(part, list) for part in found.values()):
        return found
    rows = [found] if isinstance(found, dict) else found
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError("give a list of objects, one for each row, or an object with a list for each column")
    names = list(rows[0])
    for number, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise ValueError(f"row {number} has the columns {', '.join(row)}, row 0 has {', '.join(names)}")
    return {name: [row[name] for row in rows] for name in names}


def _number(text: str) -> Any:
    if WHOLE.fullmatch(text):
        return int(text)
    if NUMBER.fullmatch(text):
        return float(text)
    return _json(text, list, text)


def _json(text: str, kind: type, otherwise: Any) -> Any:
    if kind is list and not text.lstrip().startswith("["):
        return otherwise
    try:
        found = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError):
        return otherwise
    return found if isinstance(found, kind) else otherwise


def _plain(given: Sequence[Any]) -> list[Any]:
    return [list(value) if isinstance(value, tuple) else value for value in given]
