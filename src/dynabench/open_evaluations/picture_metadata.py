"""Tables beside pictures, as the loader `imagefolder` of the package `datasets` reads them.

`metadata.csv`, `metadata.jsonl` or `metadata.parquet` describes the pictures in its folder and below: a row for each,
with the column `file_name`, relative to the table. `NAME_file_name` names a further picture, which becomes the column
`NAME`.
"""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from dynabench.intake import sources
from dynabench.intake.rows import FileRow
from dynabench.kit import errors
from dynabench.kit.language import _

ENDINGS = (".png", ".jpg", ".jpeg", ".webp")
"""Ends of the names of pictures."""
NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
FILE_NAME = "file_name"
FURTHER = f"_{FILE_NAME}"
PICTURE = "image"
"""The column of the picture that `file_name` names."""


def is_metadata(path: str) -> bool:
    """True for a table that describes the pictures beside it."""
    return PurePosixPath(path).name in NAMES


def is_picture(path: str) -> bool:
    """True for a picture, by its name."""
    return path.lower().endswith(ENDINGS)


def find_splits(names: Sequence[str], card: str = "", config: str = "") -> dict[str, list[str]]:
    """Return pictures and their metadata by split, by the card or the words in their paths.

    A table above the pictures of several splits stands in each of them. Raises `Invalid` under `config` or `dataset`.
    """
    paths = sorted(name for name in names if is_picture(name) or is_metadata(name))
    by_split = sources.group_files(paths, card, config)
    tables = [path for path in paths if is_metadata(path)]
    described: dict[str, list[str]] = {}
    for split, members in by_split.items():
        pictures = [path for path in members if is_picture(path)]
        above = [table for table in tables if any(_is_above(table, path) for path in pictures)]
        if pictures and above:
            described[split] = [*above, *pictures]
    if not described:
        message = _("%(name)s describes no pictures: there are none in its folder.", name=(tables or NAMES)[0][-100:])
        raise errors.Invalid({"dataset": message})
    return described


def _is_above(table: str, picture: str) -> bool:
    return PurePosixPath(picture).is_relative_to(PurePosixPath(table).parent)


def describe_pictures(
    tables: Iterable[tuple[str, Iterable[FileRow]]], pictures: Mapping[str, Any], members: Collection[str]
) -> Iterator[FileRow]:
    """Yield the rows of tables with pictures in place of their names, numbered through.

    `pictures` are those of all splits by their paths, `members` the paths of this one. A row about pictures of other
    splits alone is passed over. A row is refused whose picture is missing, outside the folder or described before, and
    so is, as a row, each picture that no row names. Raises `Invalid` for a table without `file_name`, and for two
    tables in one folder.
    """
    number = 0
    described: set[str] = set()
    folders: dict[PurePosixPath, str] = {}
    for table, rows in tables:
        folder = PurePosixPath(table).parent
        if folder in folders:
            message = _("%(first)s and %(second)s describe the same folder. Keep one of them.",
                        first=folders[folder][-100:], second=table[-100:])  # fmt: skip
            raise errors.Invalid({"file": message})
        folders[folder] = table
        for row in rows:
            values = row.values
            filled: FileRow | None = row
            if values is not None:
                columns = _require_pictures(values, table)
                paths = {column: _inside(folder, values[column]) for column in columns}
                others = all(path in pictures and path not in members for path in paths.values())
                filled = None if others else _fill(row, columns, paths, pictures, described)
            if filled is not None:
                number += 1
                yield filled._replace(number=number)
    for path in sorted(members):
        if is_picture(path) and path not in described:
            number += 1
            yield FileRow(number, None, _("No row describes the picture %(name)s.", name=path[-100:]))


def _require_pictures(values: Mapping[str, Any], table: str) -> dict[str, str]:
    """The columns that name pictures, each with the column that the picture becomes."""
    columns = {name: name.removesuffix(FURTHER) for name in values if name.endswith(FURTHER) and name != FURTHER}
    columns |= {FILE_NAME: PICTURE} if FILE_NAME in values else {}
    if not columns:
        message = _("%(name)s has no column file_name, which names the picture of each row.", name=table[-100:])
        raise errors.Invalid({"file": message})
    return columns


def _fill(
    row: FileRow, columns: Mapping[str, str], paths: Mapping[str, str], pictures: Mapping[str, Any], described: set[str]
) -> FileRow:
    """The row with its pictures, or with the reason why it has none."""
    values = dict(row.values or {})
    filled = {}
    for column, becomes in columns.items():
        name, path = values.pop(column), paths[column]
        if not isinstance(name, str) or not name.strip():
            return FileRow(row.number, None, _("The column %(column)s names no picture.", column=column))
        if not path:
            return FileRow(row.number, None, _("%(name)s leads out of the folder.", name=repr(name[:100])))
        if path not in pictures:
            return FileRow(row.number, None, _("There is no picture %(name)s.", name=repr(name[:100])))
        if column == FILE_NAME and path in described:
            return FileRow(row.number, None, _("The picture %(name)s was described before.", name=repr(name[:100])))
        filled[becomes] = pictures[path]
    described.update(paths.values())
    return FileRow(row.number, {**filled, **values})


def _inside(folder: PurePosixPath, name: Any) -> str:
    """The path of a file by its name in a table of a folder; empty where it leads out of the folder."""
    if not isinstance(name, str) or name.startswith("/") or "\\" in name or "\x00" in name:
        return ""
    path = posixpath.normpath(posixpath.join(folder.as_posix(), name.strip()))
    inside = PurePosixPath(path).is_relative_to(folder) and not path.startswith("..")
    return path if inside else ""
