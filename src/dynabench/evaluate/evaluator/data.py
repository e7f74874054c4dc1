"""Data to evaluate on: rows, columns, data frames, files or data sets, and their splits."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from dynabench.evaluate import tables

PREFERENCE = (
    *("test", "testing", "eval", "evaluation"),
    *("validation", "val", "valid", "dev"),
    *("train", "training"),
)


def choose_split(available: Iterable[str]) -> str:
    """Return the split to evaluate: test before validation before training. Raises ValueError where none is known."""
    names = list(available)
    for preferred in PREFERENCE:
        if preferred in names:
            return preferred
    if len(names) == 1:
        return names[0]
    raise ValueError(f"none of the splits {', '.join(names) or '(none)'} is known; say which: split=...")


def parse_split(split: str) -> tuple[str, str]:
    """Return a split's name and its slice: "test[:10%]" is "test" and ":10%". Raises ValueError for another form."""
    match = re.fullmatch(r"([^\[\]]+)(?:\[(.*)\])?", split)
    if match is None:
        raise ValueError(f"split={split!r} is no name with a slice such as 'test[:100]' or 'test[10%:20%]'")
    return match[1], match[2] or ":"


def slice_rows(part: str, size: int) -> range:
    """Return the row numbers of a slice such as "10:20", ":50%" or "-5:" of `size` rows."""
    match = re.fullmatch(r"(-?\d+%?)?:(-?\d+%?)?", part)
    if match is None:
        raise ValueError(f"[{part}] is no slice; write for example [:100], [10:20] or [:10%]")
    ends = [None if end is None else _index(end, size) for end in match.groups()]
    return range(size)[slice(*ends)]


def _index(end: str, size: int) -> int:
    return round(int(end[:-1]) * size / 100) if end.endswith("%") else int(end)


OTHER_ENDINGS = frozenset({".gz", ".txt", ".xls", ".xlsx", ".zip"})
"""Endings that no hub id has, beside those of data and what resembles them."""


class LazyColumn(Sequence[Any]):
    """A column of a `datasets` data set whose values (images, sounds) are decoded on access."""

    def __init__(self, rows: Any, name: str) -> None:
        self.rows = rows.select_columns([name]) if hasattr(rows, "select_columns") else rows
        self.name = name

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: Any) -> Any:
        return self.rows[index][self.name]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows[self.name])


@dataclass(frozen=True)
class DataTable:
    """Columns of n rows each. `classes` names the classes of columns that hold class numbers."""

    columns: Mapping[str, Sequence[Any]]
    classes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    untyped: bool = False  # all values are text for want of types
    name: str = ""
    identity: str | None = None  # of the content, where the source knows one

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else 0

    def column(self, name: str, argument: str) -> Sequence[Any]:
        """Return one column.

        Raises ValueError, naming the argument and the columns that exist, where it is missing.
        """
        if name not in self.columns:
            raise ValueError(f"{argument}={name!r} is no column of the data, which has {', '.join(self.columns)}")
        return self.columns[name]

    def texts(self, name: str, argument: str) -> list[str]:
        """Return one column of texts. Raises ValueError at the first row that is none."""
        column_texts = list(self.column(name, argument))
        for row, value in enumerate(column_texts):
            if not isinstance(value, str):
                raise ValueError(f"{name}: row {row} is {value!r}, not a text; drop it or fill it in before evaluating")
        return column_texts

    def labels(self, name: str, argument: str) -> list[Any]:
        """Return one column of labels as plain values; numbers that a CSV file holds as text become numbers."""
        column_labels = [
            value.item() if isinstance(value, np.generic) else value for value in self.column(name, argument)
        ]
        for row, value in enumerate(column_labels):
            if value is None or value != value:
                raise ValueError(f"{name}: row {row} has no label; drop it or fill it in before evaluating")
        if self.untyped and column_labels and all(_is_number(value) for value in column_labels):
            return [int(value) for value in column_labels]
        return column_labels


def load_data(data: Any, subset: str | None = None, split: str | None = None) -> DataTable:
    """Return rows from a list of dictionaries, a dictionary of columns or of splits, a data frame, a `datasets`
    data set, a file or folder of files, or the name of a data set (read through the package `datasets`).

    Raises ValueError for no rows, columns of unequal length, and a split of data that has none.
    """
    table = _load(data, subset, split)
    lengths = {name: len(column) for name, column in table.columns.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError(f"columns have different lengths: {', '.join(f'{k} {n:,}' for k, n in lengths.items())}")
    if not len(table):
        raise ValueError("nothing to evaluate: the data has no rows")
    return table


def _load(data: Any, subset: str | None, split: str | None) -> DataTable:
    if data is None:
        raise ValueError("give data: rows, columns, a data set, the path of a file or the name of a data set")
    if isinstance(data, str | Path):
        path = Path(data).expanduser()
        return _from_path(path, split) if path.exists() else _from_hub(str(data), subset, split)
    if isinstance(data, Mapping) and _has_splits(data):
        name, part = parse_split(split) if split else (choose_split(data), ":")
        if name not in data:
            raise ValueError(f"no split {name!r}; there are {', '.join(map(str, data))}")
        return _select_rows(_load(data[name], None, None), part)
    if split is not None or subset is not None:
        raise ValueError("this data is loaded already: split and subset choose only from names, paths and splits")
    if isinstance(data, DataTable):
        return data
    if hasattr(data, "column_names") and hasattr(data, "features"):
        return _from_dataset(data)
    if _is_frame(data):
        return DataTable({str(name): _values(data[name]) for name in data.columns})
    if isinstance(data, Mapping):
        return DataTable({str(name): _values(column) for name, column in data.items()})
    if isinstance(data, Sequence) or hasattr(data, "__iter__"):
        return DataTable(tables.columns_of(list(data)))
    raise ValueError(f"data cannot be a {type(data).__name__}: give rows, columns, a data set, a path or a name")


def _has_splits(data: Mapping[Any, Any]) -> bool:
    """A dictionary of splits, not of columns: its values are tables, or lists of rows under the usual split names."""
    if all(isinstance(part, Mapping) or hasattr(part, "column_names") or _is_frame(part) for part in data.values()):
        return bool(data)
    rows = (isinstance(part, list) and part and isinstance(part[0], Mapping) for part in data.values())
    return set(data) <= set(PREFERENCE) and all(rows)


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


def _from_dataset(data: Any) -> DataTable:
    if not hasattr(data, "__getitem__") or not hasattr(data, "__len__"):  # streamed
        return DataTable(tables.columns_of(list(data)), _classes(data.features))
    names = list(data.column_names)
    identity = getattr(data, "_fingerprint", None)
    lazy = {name: LazyColumn(data, name) for name in names}
    return DataTable(
        lazy, _classes(data.features), name=str(getattr(data, "builder_name", "") or ""), identity=identity
    )


def _classes(features: Any) -> dict[str, Sequence[str]]:
    """Names of classes, of columns that hold their numbers or lists of them."""
    class_names: dict[str, Sequence[str]] = {}
    for name, feature in (features or {}).items():
        inner = feature[0] if isinstance(feature, list) and feature else getattr(feature, "feature", feature)
        names = getattr(inner, "names", None)
        if names:
            class_names[name] = tuple(names)
    return class_names


def _from_path(path: Path, split: str | None) -> DataTable:
    name, part = parse_split(split) if split else ("", ":")
    if path.is_dir():
        splits = {file.name.split(".")[0]: file for file in sorted(path.iterdir()) if tables.is_data_file(file)}
        name = name or choose_split(splits)
        if name not in splits:
            raise ValueError(f"{path} has no split {name!r}; it has {', '.join(splits)}")
        path = splits[name]
    elif name not in ("", path.name.split(".")[0]):
        raise ValueError(f"{path} is one file: it has no split {name!r}")
    columns, untyped = tables.read_table(path)
    return _select_rows(DataTable(columns, untyped=untyped, name=str(path)), part)


def _from_hub(name: str, subset: str | None, split: str | None) -> DataTable:
    if looks_like_path(name):
        raise ValueError(f"there is no file or folder {name}")
    try:
        datasets = import_module("datasets")
    except ImportError:
        raise ValueError(
            f"there is no file {name!r}; data sets are read by name with datasets: pip install datasets"
        ) from None
    try:
        split_name = split or choose_split(datasets.get_dataset_split_names(name, subset))
        table = _from_dataset(datasets.load_dataset(name, name=subset, split=split_name))
    except (OSError, RuntimeError) as error:  # no such data set, no network, or one that wants its own program
        raise ValueError(f"{name!r} could not be read: {error}") from error
    return DataTable(table.columns, table.classes, name=name, identity=table.identity)


def looks_like_path(name: str) -> bool:
    """Return whether a name is meant as a file or folder: a mistyped path must not be looked up on a hub, which
    takes a minute without a network.

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
    return ending in OTHER_ENDINGS or bool(get_close_matches(ending, tables.ENDINGS, 1, 0.7))


def _select_rows(table: DataTable, part: str) -> DataTable:
    if part == ":":
        return table
    rows = slice_rows(part, len(table))
    columns = {name: [column[row] for row in rows] for name, column in table.columns.items()}
    return DataTable(
        columns, table.classes, table.untyped, table.name, f"{table.identity}[{part}]" if table.identity else None
    )


def _is_number(value: Any) -> bool:
    """A whole number in its usual form, so that nothing is lost in reading it."""
    return isinstance(value, str) and value.lstrip("-").isdecimal() and str(int(value)) == value
