"""The result of a measure: a finding in words, figures with intervals, tables; stored and sent as JSON."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any, Literal

from dynabench.insight.data_measurements.sample import RoundSample
from dynabench.kit.language import is_phrase_record, phrase_document, restored

Kind = Literal["share", "number", "count", "text", "p"]
"""The format of a value: a share in percent, a number, whole, as it is, or as a p value."""
Drawn = Literal["", "intervals", "bars", "lines"]
"""A table's picture: its first columns after the name are value, low and high; or a value; or lines over a number."""

LEAST = 5
"""Writers behind everything that the public sees."""


@dataclass(frozen=True)
class Figure:
    """A number, perhaps with its 95% interval; `n` is its number of examples. `name` is the same in each round."""

    name: str
    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    kind: Kind = "number"


@dataclass(frozen=True)
class ResultColumn:
    """A column of a table: its name in files, its label on pages."""

    name: str
    label: str
    kind: Kind = "number"


@dataclass(frozen=True)
class Table:
    """Rows of values; `people` counts, for each row, the writers whose examples it is made of."""

    name: str
    title: str
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    people: tuple[int, ...]
    drawn: Drawn = ""
    line: float | None = None
    """A value to compare with, which pictures show as a line."""
    human: float | None = None
    """The value of people, where the table is about models and blind answers exist."""


@dataclass(frozen=True)
class MeasureResult:
    """The result of one measure on a round; rounds are compared by the first figure.

    `people` counts the writers behind all of it.
    """

    finding: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...] = ()
    people: int = 0
    note: str = ""

    def document(self) -> dict[str, Any]:
        """Return the result for JSON, without infinite numbers."""
        plain: dict[str, Any] = _plain_values(asdict(self))
        return plain

    def record(self) -> dict[str, Any]:
        """Return the result as it is stored: texts with their translation, for `read_result`."""
        record: dict[str, Any] = _plain_values(asdict(self), lambda text: phrase_document(text) or text)
        return record


@dataclass(frozen=True)
class RoundMeasure:
    """A measure of a round's data; `about` says what it means and how to read it."""

    title: str
    about: str
    measure: Callable[[RoundSample], MeasureResult | None]
    """Returns the result for a sample; None where the measure does not apply to these data."""


def describe_measure(title: str, about: str) -> Callable[[Callable[[RoundSample], MeasureResult | None]], RoundMeasure]:
    """Make a measure of a function."""
    return lambda function: RoundMeasure(title, about, function)


def read_result(document: dict[str, Any]) -> MeasureResult:
    """Return the result of a stored record or a plain document."""
    document = _restore_texts(document)
    tables = tuple(
        Table(**{**item, "columns": tuple(ResultColumn(**column) for column in item["columns"]),
                 "rows": tuple(map(tuple, item["rows"])), "people": tuple(item["people"])})
        for item in document["tables"]
    )  # fmt: skip
    figures = tuple(Figure(**item) for item in document["figures"])
    return MeasureResult(document["finding"], figures, tables, document["people"], document["note"])


def public_part(result: MeasureResult, least: int = LEAST) -> MeasureResult | None:
    """Return the public part: nothing of fewer than `least` writers, nor anything that it could be computed from."""
    if result.people < least:
        return None
    tables = [_public_table(table, least) for table in result.tables]
    visible = (
        table for table, whole in zip(tables, result.tables, strict=True) if len(table.rows) > 1 or table == whole
    )
    return MeasureResult(result.finding, result.figures, tuple(visible), result.people, result.note)


def _public_table(table: Table, least: int) -> Table:
    places = [place for place, people in enumerate(table.people) if people >= least]
    rows, people = tuple(table.rows[place] for place in places), tuple(table.people[place] for place in places)
    return Table(table.name, table.title, table.columns, rows, people, table.drawn, table.line)


def make_columns(*specifications: tuple[str, str, Kind]) -> tuple[ResultColumn, ...]:
    """Return columns from (name, label, kind)."""
    return tuple(ResultColumn(*specification) for specification in specifications)


def _restore_texts(value: Any) -> Any:
    if isinstance(value, dict):
        if is_phrase_record(value):
            return restored(value)
        return {name: _restore_texts(item) for name, item in value.items()}
    return [_restore_texts(item) for item in value] if isinstance(value, list) else value


def _plain_values(value: Any, text: Callable[[str], Any] = str) -> Any:
    if isinstance(value, dict):
        return {name: _plain_values(item, text) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain_values(item, text) for item in value]
    if isinstance(value, str):
        return text(value)
    return None if isinstance(value, float) and not isfinite(value) else value
