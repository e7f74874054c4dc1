"""The rows to evaluate on, whatever they come in."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dynabench.evaluate import tables
from dynabench.evaluate.evaluator.splits import PREFERENCE, choose_split, rows_of, sliced

FILES = frozenset({".gz", ".txt", ".xls", ".xlsx", ".zip"})
"""Endings that no hub id has, beside those of data and what resembles them."""


class LazyColumn(Sequence[Any]):
    """A column of a `datasets` data set whose values (images, sounds) are decoded when they are asked for."""

    def __init__(self, rows: Any, name: str) -> None:
        self.rows = rows.select_columns([name]) if hasattr(rows, "select_columns") else rows
        self.name = name

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: Any) -> Any:
        return self.rows[row][self.name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows[self.name])


@dataclass(frozen=True)
class Table:
    """Columns of n rows each. `classes` names the classes of columns that hold their numbers."""

    columns: Mapping[str, Sequence[Any]]
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untyped: bool = False  # all values are text for want of types
    name: str = ""
    identity: str | None = None  # of the content, where the source knows one

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def column(self, name: str, argument: str) -> Sequence[Any]:
        """One column. Raises ValueError, naming the argument and what there is, where it is missing."""
        if name not in self.columns:
            raise ValueError(f"{argument}={name!r} is no column of the data, which has {', '.join(self.columns)}")
        return self.columns[name]

    def texts(self, name: str, argument: str) -> list[str]:
        """One column of texts. Raises ValueError at the first row that is none."""
        found = list(self.column(name, argument))
        for row, value in enumerate(found):
            if not isinstance(value, str):
                raise ValueError(f"{name}: row {row} is {value!r}, not a text; drop it or fill it in before evaluating")
        return found

    def labels(self, name: str, argument: str) -> list[Any]:
        """One column of labels as plain values; numbers written as text in a CSV file become numbers."""
        found = [value.item() if isinstance(value, np.generic) else value for value in self.column(name, argument)]
        for row, value in enumerate(found):
            if value is None or value != value:
                raise ValueError(f"{name}: row {row} has no label; drop it or fill it in before evaluating")
        if self.untyped and found and all(_is_number(value) for value in found):
            return [int(value) for value in found]
        return found


def load_data(data: Any, subset: str | None = None, split: str | None = None) -> Table:
    """Rows from a list of dictionaries, a dictionary of columns or of splits, a data frame, a `datasets` data set, a
    file or folder of files, or the name of a data set (read through the package `datasets`).

    Raises ValueError for no rows, columns of unequal length, and a split of data that has none.
    """
    table = _found(data, subset, split)
    lengths = {name: len(column) for name, column in table.columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns have different lengths: {', '.join(f'{k} {n:,}' for k, n in lengths.items())}")
    if not len(table):
        raise ValueError("nothing to evaluate: the data has no rows")
    return table


def _found(data: Any, subset: str | None, split: str | None) -> Table:
    if data is None:
        raise ValueError("give data: rows, columns, a data set, the path of a file or the name of a data set")
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        return _from_path(path, split) if path.exists() else _named(str(data), subset, split)
    if isinstance(data, Mapping) and _has_splits(data):
        name, part = sliced(split) if split else (choose_split(data), ":")
        if name not in data:
            raise ValueError(f"no split {name!r}; there are {', '.join(map(str, data))}")
        return _part(_found(data[name], None, None), part)
    if split is not None or subset is not None:
        raise ValueError("this data is loaded already: split and subset choose only from names, paths and splits")
    if isinstance(data, Table):
        return data
    if hasattr(data, "column_names") and hasattr(data, "features"):
        return _from_dataset(data)
    if _is_frame(data):
        return Table({str(name): _values(data[name]) for name in data.columns})
    if isinstance(data, Mapping):
        return Table({str(name): _values(column) for name, column in data.items()})
    if isinstance(data, Sequence) or hasattr(data, "__iter__"):
        return Table(tables.columns_of(list(data)))
    raise ValueError(f"data cannot be a {type(data).__name__}: give rows, columns, a data set, a path or a name")


def _has_splits(data: Mapping[Any, Any]) -> bool:
    """Whether a dictionary holds parts of a data set, and not columns: tables, or lists of rows under known names."""
    if all(_is_table(part) for part in data.values()):
        return bool(data)
    rows = (isinstance(part, list) and part and isinstance(part[0], Mapping) for part in data.values())
    return set(data) <= set(PREFERENCE) and all(rows)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "column_names") or _is_frame(value)


def _is_frame(value: Any) -> bool:
    return hasattr(value, "columns") and hasattr(value, "to_dict")


def _values(column: Any) -> Sequence[Any]:
    if isinstance(column, str) or not hasattr(column, "__len__") or not hasattr(column, "__getitem__"):
        raise ValueError(f"a dictionary of columns has a list for each column, not {column!r}")
    for listed in ("tolist", "to_list"):  # of numpy and pandas; of polars
        if hasattr(column, listed):
            rows: Sequence[Any] = getattr(column, listed)()
            return rows
    whole: Sequence[Any] = column
    return whole


def _from_dataset(data: Any) -> Table:
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):  # streamed
        return Table(tables.columns_of(list(data)), _classes(data.features))
    names = list(data.column_names)
    identity = getattr(data, "_fingerprint", None)
    lazy = {name: LazyColumn(data, name) for name in names}
    return Table(lazy, _classes(data.features), name=str(getattr(data, "builder_name", "") or ""), identity=identity)


def _classes(features: Any) -> dict[str, Sequence[str]]:
    """Names of classes, of columns that hold their numbers or lists of them."""
    found: dict[str, Sequence[str]] = {}
    for name, feature in (features or {}).items():
        inner = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", feature)
        names = getattr(inner, "names", None)
        if names:
            found[name] = tuple(names)
    return found


def _from_path(path: Path, split: str | None) -> Table:
    name, part = sliced(split) if split else ("", ":")
    if path.is_dir():
        known = {one.name.split(".")[0]: one for one in sorted(path.iterdir()) if tables.is_data(one)}
        name = name or choose_split(known)
        if name not in known:
            raise ValueError(f"{path} has no split {name!r}; it has {', '.join(known)}")
        path = known[name]
    elif name not in ("", path.name.split(".")[0]):
        raise ValueError(f"{path} is one file: it has no split {name!r}")
    columns, untyped = tables.read(path)
    return _part(Table(columns, untyped=untyped, name=str(path)), part)


def _named(name: str, subset: str | None, split: str | None) -> Table:
    if looks_like_path(name):
        raise ValueError(f"there is no file or folder {name}")
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise ValueError(
            f"there is no file {name!r}; data sets are read by name with datasets: pip install datasets"
        ) from None
    try:
        chosen = split or choose_split(datasets.get_dataset_split_names(name, subset))
        found = _from_dataset(datasets.load_dataset(name, name=subset, split=chosen))
    except (OSError, RuntimeError) as error:  # no such data set, no network, or one that wants its own program
        raise ValueError(f"{name!r} could not be read: {error}") from error
    return Table(found.columns, found.classes, name=name, identity=found.identity)


def looks_like_path(name: str) -> bool:
    """Tell whether a name is meant as a file or folder: a mistyped one must not be looked for on a hub, which takes a
    minute where there is no network.

    Hub ids are `name` or `organisation/name`, whose dots stand before a number (`phi-1.5`), or before a word where
    there is an organisation (`timm/vit_base_patch16_224.mae`) that is no folder here.
    """
    if name.startswith((".", "~", "/")) or name.count("/") > 1:
        return True
    path = Path(name)
    ending = path.suffix.lower()
    if not ending[1:2].isalpha():
        return False
    if "/" not in name or path.parent.is_dir():
        return True
    return ending in FILES or bool(get_close_matches(ending, tables.ENDINGS, 1, 0.7))


def _part(table: Table, part: str) -> Table:
    if part == ":":
        return table
    rows = rows_of(part, len(table))
    columns = {name: [column[row] for row in rows] for name, column in table.columns.items()}
    return Table(
        columns, table.classes, table.untyped, table.name, f"{table.identity}[{part}]" if table.identity else None
    )


def _is_number(value: Any) -> bool:
    """Whether this text is a whole number in its usual form, so that nothing is lost in reading it."""
    return isinstance(value, str) and value.lstrip("-").isdecimal() and str(int(value)) == value
