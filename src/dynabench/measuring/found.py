"""What a measure finds: a finding in words, figures with intervals, tables; kept and sent as JSON."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

from dynabench.language import kept, restored

Kind = Literal["share", "number", "count", "text", "p"]
"""How a value is written: a share in percent, a number, whole, as it is, or as a p value."""
Drawn = Literal["", "intervals", "bars", "lines"]
"""A table's picture: its first columns after the name are value, low and high; or a value; or lines over a number."""

LEAST = 5
"""Writers behind whatever the public sees."""


@dataclass(frozen=True)
class Figure:
    """One number with its 95% interval, if it has one; `n` counts what it is of. `name` is the same in each round."""

    name: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    kind: Kind = "number"


@dataclass(frozen=True)
class Column:
    """A column of a table: its name in files, its label on pages."""

    name: str
    label: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Table:
    """Rows of values; `people` counts, for each row, the writers whose examples it is made of."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    people: tuple[int, ...]
    drawn: Drawn = ""
    line: float | None = None
    """A value to compare with, which pictures show as a line."""


@dataclass(frozen=True)
class Found:
    """What one measure says of a round; the first figure is the one that rounds are compared by.

    `people` counts the writers behind all of it.
    """

    finding: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...] = ()
    people: int = 0
    note: str = ""

    def document(self) -> dict[str, Any]:
        """The same for JSON, which knows no infinite number."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain

    def record(self) -> dict[str, Any]:
        """The same as it is kept: texts with their translation, for `read`."""
        made: dict[str, Any] = _plain(asdict(self), lambda text: kept(text) or text)
        return made


def read(document: dict[str, Any]) -> Found:
    """What was kept, by `record` or as a plain document."""
    document = _restored(document)
    tables = tuple(
        Table(**{**each, "columns": tuple(Column(**one) for one in each["columns"]),
                 "rows": tuple(map(tuple, each["rows"])), "people": tuple(each["people"])})
        for each in document["tables"]
    )  # fmt: skip
    figures = tuple(Figure(**each) for each in document["figures"])
    return Found(document["finding"], figures, tables, document["people"], document["note"])


def public(of: Found, least: int = LEAST) -> Found | None:
    """What anybody may see: nothing that fewer than `least` writers stand behind, nor what it could be told from."""
    if of.people < least:
        return None
    tables = [_public(each, least) for each in of.tables]
    shown = (each for each, whole in zip(tables, of.tables, strict=True) if len(each.rows) > 1 or each == whole)
    return Found(of.finding, of.figures, tuple(shown), of.people, of.note)


def _public(of: Table, least: int) -> Table:
    kept = [place for place, people in enumerate(of.people) if people >= least]
    rows, people = tuple(of.rows[place] for place in kept), tuple(of.people[place] for place in kept)
    return Table(of.name, of.title, of.columns, rows, people, of.drawn, of.line)


def columns(*of: tuple[str, str, Kind]) -> tuple[Column, ...]:
    """Columns from (name, label, kind)."""
    return tuple(Column(*each) for each in of)


def _restored(value: Any) -> Any:
    if isinstance(value, dict):
        if "message" in value or "amount" in value:
            return restored(value)
        return {name: _restored(each) for name, each in value.items()}
    return [_restored(each) for each in value] if isinstance(value, list) else value


def _plain(value: Any, text: Callable[[str], Any] = str) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each, text) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, text) for each in value]
    if isinstance(value, str):
        return text(value)
    return None if isinstance(value, float) and not isfinite(value) else value
