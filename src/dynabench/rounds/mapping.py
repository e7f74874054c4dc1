"""Which column of a file becomes which field: guessed from names, shown on the first rows, applied to each."""

import csv
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from dynabench import errors
from dynabench.language import _
from dynabench.rounds import files
from dynabench.rounds.contexts import Row

SHOWN = 10  # rows of a preview
COLUMNS = 100  # columns of a file that may be chosen from
TAG_NAMES = ("tag", "tags", "category", "topic", "genre")


@dataclass(frozen=True)
class Columns:
    """The column that each field is read from (fields without one are left out), and where the tag comes from.

    `tag` names a column; `fixed_tag` is the tag of every row in which that column says nothing.
    """

    fields: Mapping[str, str] = field(default_factory=dict)
    tag: str = ""
    fixed_tag: str = ""

    def document(self) -> dict[str, Any]:
        """As JSON, for a job's payload."""
        return {"fields": dict(self.fields), "tag": self.tag, "fixed_tag": self.fixed_tag}

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> "Columns | None":
        """From a payload; None stays None: then the columns are the fields."""
        return cls(document["fields"], document["tag"], document["fixed_tag"]) if document else None

    def apply(self, row: Row) -> Row:
        """The row with the fields' names; one that could not be read stays as it is."""
        if row.error or not isinstance(row.values, dict):
            return row
        given = raw(row)
        values = {name: given[column] for name, column in self.fields.items() if column in given}
        tag = given.get(self.tag, "") if self.tag else ""
        tag = str(tag) if isinstance(tag, int | float) else tag
        return Row(row.number, values, tag or self.fixed_tag)


def raw(row: Row) -> dict[str, Any]:
    """A row as the file has it: readers take the column `tag` out, here it is back."""
    values = row.values if isinstance(row.values, dict) else {}
    return {**values, "tag": row.tag} if row.tag not in ("", None) else dict(values)


@dataclass(frozen=True)
class Sheet:
    """The beginning of a file: its columns and its first rows, unreadable ones with their `error`."""

    columns: list[str]
    rows: list[Row]


def look(path: Path, shown: int = SHOWN) -> Sheet:
    """The first rows of a file; its columns are the header's, or the members of the first rows of JSONL.

    Raises `Invalid` for a file of another kind, without rows, or with a header that names no columns.
    """
    read = files.reader(path)
    with path.open("rb") as stream:
        rows = list(islice(read(stream), shown))
    if not rows:
        raise errors.Invalid({"file": _("There are no rows in this file.")})
    columns = _header(path) if path.suffix == ".csv" else list(dict.fromkeys(key for row in rows for key in raw(row)))
    if not columns:
        raise errors.Invalid({"file": "None of the first rows can be read: " + next(row.error for row in rows)})
    return Sheet(columns[:COLUMNS], rows)


def _header(path: Path) -> list[str]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        return next(csv.reader(stream), [])


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def guess(columns: Sequence[str], fields: Sequence[str]) -> Columns:
    """The likely column of each field: the same name, then the same letters, then one name within the other; the last
    field without one gets the last column left."""
    left = [column for column in columns if _plain(column) not in TAG_NAMES or column in fields]
    found: dict[str, str] = {}
    for alike in _LIKENESS:
        for name in fields:
            match = next((column for column in left if alike(column, name)), None) if name not in found else None
            if match is not None:
                found[name] = match
                left.remove(match)
    missing = [name for name in fields if name not in found]
    if len(missing) == 1 and len(left) == 1:
        found[missing[0]] = left[0]
    tags = [column for wanted in TAG_NAMES for column in columns if _plain(column) == wanted]
    return Columns(found, next((column for column in tags if column not in found.values()), ""))


def _within(column: str, name: str) -> bool:
    one, other = _plain(column), _plain(name)
    return min(len(one), len(other)) > 2 and (one in other or other in one)


_LIKENESS: tuple[Callable[[str, str], bool], ...] = (
    lambda column, name: column == name,
    lambda column, name: _plain(column) == _plain(name),
    _within,
)


def chosen(columns: Sequence[str], fields: Sequence[str], picked: Mapping[str, str]) -> Columns:
    """What a person chose: `picked` maps `field.<name>` and `tag` to a column or to nothing, `fixed_tag` to a text.

    Raises `Invalid` under those names where a column is not in the file or is taken twice.
    """
    wrong: dict[str, str] = {}
    found: dict[str, str] = {}
    for name in fields:
        column = picked.get(f"field.{name}", "")
        if column and column not in columns:
            wrong[f"field.{name}"] = _("There is no such column in the file.")
        elif column in found.values():
            wrong[f"field.{name}"] = _("This column is taken by another field.")
        elif column:
            found[name] = column
    tag, fixed = picked.get("tag", ""), picked.get("fixed_tag", "").strip()
    if tag and tag not in columns:
        wrong["tag"] = _("There is no such column in the file.")
    if len(fixed) > 100 or not fixed.isprintable():
        wrong["fixed_tag"] = _("Give up to 100 printable characters.")
    if wrong:
        raise errors.Invalid(wrong)
    return Columns(found, tag, fixed)
