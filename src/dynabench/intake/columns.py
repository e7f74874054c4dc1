"""Columns of files: listed from the first rows, found by name, suggested for fields, chosen by a person."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from dynabench.intake.mapping import ColumnMapping
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.kit.storable import printable

FIRST_ROWS = 200
"""Rows that columns are listed from and suggestions are made from."""
MOST_COLUMNS = 200
TAG_NAMES = ("tag", "tags", "category", "topic", "genre")


@dataclass(frozen=True)
class FilePreview:
    """The beginning of a file: its columns and its first rows, unreadable ones with their `error`."""

    columns: list[str]
    rows: list[FileRow]

    @property
    def values(self) -> list[dict[str, Any]]:
        """The rows that can be read."""
        return [row.values for row in self.rows if row.values is not None]

    def require_rows(self) -> "FilePreview":
        """Return this preview. Raises `Invalid` under `file` where none of its rows can be read."""
        if not self.rows:
            raise errors.Invalid({"file": _("There are no rows in this file.")})
        if not self.values:
            why = f" Row {self.rows[0].number}: {self.rows[0].error}"
            raise errors.Invalid({"file": _("No row of this file can be read.") + why})
        return self


def preview_rows(rows: Iterable[FileRow], count: int = FIRST_ROWS) -> FilePreview:
    """Return the preview of the first `count` rows."""
    first = list(islice(rows, count))
    return FilePreview(list_columns(row.values for row in first if row.values is not None), first)


def list_columns(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the columns of some rows, with those of nested objects, two levels deep, by dotted names."""
    columns: dict[str, None] = {}
    for row in rows:
        for name, value in row.items():
            columns[printable(str(name))] = None
            if isinstance(value, Mapping):
                for inner, member in value.items():
                    columns[printable(f"{name}.{inner}")] = None
                    if isinstance(member, Mapping):
                        columns |= {printable(f"{name}.{inner}.{deepest}"): None for deepest in member}
    return list(columns)[:MOST_COLUMNS]


def find_column(columns: Iterable[str], *names: str) -> str:
    """Return the column that has the first of these names, whatever its case; the empty text where none has."""
    by_name = {column.casefold(): column for column in reversed(list(columns))}
    return next((by_name[name.casefold()] for name in names if name.casefold() in by_name), "")


def suggest_columns(columns: Sequence[str], fields: Sequence[str]) -> ColumnMapping:
    """Return the likely columns of a context's fields, and of its tag.

    A field gets the column of the same name, else of the same letters, else one whose name contains the other; a
    single field without one gets the single column that is left.
    """
    candidates = [column for column in columns if _letters(column) not in TAG_NAMES or column in fields]
    suggested: dict[str, str] = {}
    for alike in _LIKENESS:
        for field in fields:
            match = (
                next((column for column in candidates if alike(column, field)), "") if field not in suggested else ""
            )
            if match:
                suggested[field] = match
                candidates.remove(match)
    missing = [field for field in fields if field not in suggested]
    if len(missing) == 1 and len(candidates) == 1:
        suggested[missing[0]] = candidates[0]
    free = [column for column in columns if column not in suggested.values()]
    tags = [column for name in TAG_NAMES for column in free if _letters(column) == name]
    return ColumnMapping.of_context(suggested, tags[0] if tags else "")


def choose_columns(columns: Sequence[str], fields: Sequence[str], picked: Mapping[str, str]) -> ColumnMapping:
    """Return the choice of a person: `picked` maps `field.<name>` and `tag` to a column, `fixed_tag` to a text.

    Raises `Invalid` under those names where a column is not in the file or is taken twice.
    """
    wrong: dict[str, str] = {}
    chosen: dict[str, str] = {}
    for field in fields:
        column = picked.get(f"field.{field}", "")
        if column and column not in columns:
            wrong[f"field.{field}"] = _("The file has no such column.")
        elif column in chosen.values():
            wrong[f"field.{field}"] = _("This column is already used for another field.")
        elif column:
            chosen[field] = column
    tag, fixed = picked.get("tag", ""), picked.get("fixed_tag", "").strip()
    if tag and tag not in columns:
        wrong["tag"] = _("The file has no such column.")
    if len(fixed) > 100 or not fixed.isprintable():
        wrong["fixed_tag"] = _("Give up to 100 printable characters.")
    if wrong:
        raise errors.Invalid(wrong)
    return ColumnMapping.of_context(chosen, tag, fixed)


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _contains(column: str, field: str) -> bool:
    first, second = _letters(column), _letters(field)
    return min(len(first), len(second)) > 2 and (first in second or second in first)


_LIKENESS: tuple[Callable[[str, str], bool], ...] = (
    lambda column, field: column == field,
    lambda column, field: _letters(column) == _letters(field),
    _contains,
)
