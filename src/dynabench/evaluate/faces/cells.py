"""Columns from text: lines, CSV and JSON, as people paste them or keep them in files.

What a cell means depends on the column: a line of a text column is that text, a line of labels is a number where all
of them are. Lists and dictionaries are written as JSON.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.evaluate.columns import Column, Labels, Numbers, References, Texts, Tokens
from dynabench.evaluate.tables import Columns, parsed, refused

NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d{1,3})?")
WHOLE = re.compile(r"[-+]?\d{1,18}")


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


def table(text: str, known: Mapping[str, Column]) -> Columns:
    """Columns by name from a table: JSON (rows or columns), JSON lines, or CSV with a header.

    Raises ValueError, with the line where there is one, for what is none of them.
    """
    found, untyped = parsed(text)
    if not untyped:
        return found
    return {name: values(known[name], part) if name in known else scalars(part) for name, part in found.items()}


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
        found = json.loads(text, parse_constant=refused)
    except (ValueError, RecursionError):
        return otherwise
    return found if isinstance(found, kind) else otherwise


def _plain(given: Sequence[Any]) -> list[Any]:
    return [list(value) if isinstance(value, tuple) else value for value in given]
