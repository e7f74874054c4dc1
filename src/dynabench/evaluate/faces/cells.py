"""Columns from text: lines, CSV and JSON, as people paste them or keep them in files.

What a cell means depends on the column: a line of a text column is that text, a line of labels is a number where all
of them are. Lists and dictionaries are written as JSON.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.evaluate.columns import Column, Labels, Numbers, References, Texts, Tokens
from dynabench.evaluate.tables import Columns, parse_columns, refuse_constant

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
WHOLE = re.compile(r"[-+]?\d{1,18}")


def parse_cells(column: Column, cells: Sequence[str]) -> list[Any]:
    """Return the values in the cells of a column, one each. Nothing is refused here: the column itself does that."""
    if isinstance(column, Texts):
        return list(cells)
    if isinstance(column, References):
        return [_json(cell, list, cell) for cell in cells]
    if isinstance(column, Tokens):
        return [_json(cell, list, cell.split()) for cell in cells]
    if isinstance(column, Labels | Numbers):
        return parse_scalars(cells)
    return [_json(cell, object, cell) for cell in cells]


def parse_scalars(cells: Sequence[str]) -> list[Any]:
    """Return cells as numbers where each is one or a JSON list, else as texts; empty cells become None."""
    parsed_cells = [None if not cell.strip() else _number(cell.strip()) for cell in cells]
    if any(isinstance(value, str) for value in parsed_cells):
        return [cell.strip() or None for cell in cells]
    return parsed_cells


def column_lines(column: Column, column_values: Sequence[Any]) -> str | None:
    """Return values as lines that `parse_cells` reads back to the same.

    None where that is impossible (line breaks).
    """
    texts = [value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in column_values]
    text = "\n".join(texts)
    return text if split_lines(text) == texts and parse_cells(column, texts) == _as_lists(column_values) else None


def line_format_hint(column: Column) -> str:
    """Return a hint how a value of this column is written on a line, where that is not obvious."""
    if isinstance(column, Tokens):
        return ", separated by spaces or as a JSON list"
    if isinstance(column, References):
        return ' as JSON: ["one", "other"]'
    if isinstance(column, Texts | Labels | Numbers):
        return ""
    return ", lists and dictionaries as JSON"


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, without empty ones at its end."""
    text_lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    while text_lines and not text_lines[-1].strip():
        text_lines.pop()
    return text_lines


def parse_table(text: str, column_kinds: Mapping[str, Column]) -> Columns:
    """Return columns by name from a table: JSON (rows or columns), JSON lines, or CSV with a header.

    Raises ValueError, with the line where there is one, for any other text.
    """
    columns, untyped = parse_columns(text)
    if not untyped:
        return columns
    return {
        name: parse_cells(column_kinds[name], part) if name in column_kinds else parse_scalars(part)
        for name, part in columns.items()
    }


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
        value = json.loads(text, parse_constant=refuse_constant)
    except (ValueError, RecursionError):
        return otherwise
    return value if isinstance(value, kind) else otherwise


def _as_lists(column_values: Sequence[Any]) -> list[Any]:
    return [list(value) if isinstance(value, tuple) else value for value in column_values]
