"""Rows from files, and which of their columns a module means."""

import gzip
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynabench.evaluate.faces import cells
from dynabench.evaluate.module import Module

ENDINGS = (".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".parquet")
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
    ending = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if ending not in ENDINGS:
        raise ValueError(f"{path} ends in none of {', '.join(ENDINGS)}, perhaps with .gz")
    if ending == ".parquet":
        return Data(_parquet(path))
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    text = raw.decode("utf-8-sig")
    if ending == ".txt":
        return Data({"prediction": cells.split(text)}, frozenset({"prediction"}))
    try:
        columns, untyped = cells.raw(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return Data(columns, frozenset(columns) if untyped else frozenset())


def _parquet(path: Path) -> dict[str, list[Any]]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet files are read with pyarrow: pip install pyarrow") from None
    found: dict[str, list[Any]] = parquet.read_table(path).to_pydict()
    return found


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
            found[name] = cells.values(kind, part) if place in data.untyped else part
        elif name in module.columns or name in named:
            has = ", ".join(data.columns)
            said = f"{place!r} is no column of the data" if name in named else f"the data has no column for {name}"
            raise ValueError(f"{said}, which has {has}; say --column {name}=NAME")
    return found


def _names(name: str) -> Sequence[str]:
    return (name, name.removesuffix("s"), *ALIASES.get(name, ()))
