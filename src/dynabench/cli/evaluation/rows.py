"""Rows from files, and which of their columns a module means."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.evaluate import inputs, tables
from dynabench.evaluate.module import Module

ALIASES = {"references": ("reference", "label"), "predictions": ("prediction",)}


@dataclass(frozen=True)
class Data:
    """Columns of equal length. Cells of `untyped` ones are texts whose meaning the module's columns say."""

    columns: Mapping[str, list[Any]]
    untyped: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return max((len(column) for column in self.columns.values()), default=0)


def read(path: Path) -> Data:
    """A file by its ending: CSV, JSON, JSON lines, Parquet; `.txt` has one prediction a line; each perhaps with `.gz`.

    Raises ValueError for what cannot be read.
    """
    if not path.is_file():
        raise ValueError(f"there is no file {path}")
    if tables.ending_of(path) == ".txt":
        return Data({"prediction": inputs.split_lines(tables.text_of(path))}, frozenset({"prediction"}))
    columns, untyped = tables.read_table(path)
    return Data(columns, frozenset(columns) if untyped else frozenset())


def beside(data: Data, predictions: Data) -> Data:
    """The data with predictions from another file, row by row. Raises ValueError where there are more or fewer."""
    if len(predictions) != len(data):
        raise ValueError(f"the data has {len(data):,} rows and the predictions {len(predictions):,}")
    if len(predictions.columns) == 1:
        (name,) = predictions.columns
        predictions = Data(
            {"prediction": predictions.columns[name]}, frozenset({"prediction"} if predictions.untyped else ())
        )
    taken = frozenset(data.untyped - predictions.columns.keys())
    return Data({**data.columns, **predictions.columns}, taken | predictions.untyped)


def given(module: type[Module], data: Data, named: Mapping[str, str]) -> dict[str, list[Any]]:
    """The module's columns from the data: those that `named` says, else those of the same name, perhaps singular.

    Raises ValueError, with the data's columns, where one that it needs is missing.
    """
    kinds = {**module.columns, **module.optional}
    found = {}
    for name, kind in kinds.items():
        place = named.get(name) or next((each for each in _names(name) if each in data.columns), "")
        if place in data.columns:
            part = data.columns[place]
            found[name] = inputs.parse_cells(kind, part) if place in data.untyped else part
        elif name in module.columns or name in named:
            has = ", ".join(data.columns)
            said = f"{place!r} is no column of the data" if name in named else f"the data has no column for {name}"
            raise ValueError(f"{said}, which has {has}; say --column {name}=NAME")
    return found


def _names(name: str) -> Sequence[str]:
    return (name, name.removesuffix("s"), *ALIASES.get(name, ()))
