"""A result as lines of a table: one for each number, with its interval, range and direction."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.evaluate.card import Card, Output

MAX_LINES = 60
EXTRA_KEYS = ("interval", "per_example")


@dataclass(frozen=True)
class ResultLine:
    """One number or text of a result. `low` and `high` are its interval, `output` the card's entry of its key."""

    name: str
    value: Any
    low: float | None = None
    high: float | None = None
    output: Output | None = None

    @property
    def text(self) -> str:
        """The value in short form."""
        return format_value(self.value)

    @property
    def scale(self) -> tuple[float, float] | None:
        """The range of the metric, where it has two ends; else None."""
        if self.output is None or self.output.low is None or self.output.high is None:
            return None
        return (self.output.low, self.output.high)

    def at(self, value: float) -> float:
        """Return the position of a value on the scale, 0 to 100."""
        low, high = self.scale or (0.0, 1.0)
        return round(100 * min(max((value - low) / (high - low), 0.0), 1.0), 2)


def range_text(output: Output) -> str:
    """Return the range and the better direction of an output as text."""
    low, high = ("" if end is None else f"{end:g}" for end in (output.low, output.high))
    span = (
        f"{low} to {high}" if low and high else f"{low} or more" if low else f"{high} or less" if high else "any number"
    )
    return f"{span}, {output.better} is better" if output.better else span


def format_value(value: Any) -> str:
    """Return a number with four significant digits, whole numbers whole, None as a dash."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e6):
        return f"{int(value):,}"
    if abs(value) >= 1e6 or (value and abs(value) < 1e-4):
        return f"{value:.3e}"
    return f"{value:,.{max(4 - 1 - math.floor(math.log10(abs(value))), 1) if abs(value) < 1 else 3}f}"


def result_lines(card: Card, result: Mapping[str, Any]) -> list[ResultLine]:
    """Return the numbers of a result in the card's order; parts of lists and dictionaries are lines of their own.

    Without the parts that `result_tables` shows; at most `MAX_LINES`, and a last line for the rest.
    """
    outputs = {output.name: output for output in card.outputs}
    intervals = result.get("interval", {})
    excluded = {*EXTRA_KEYS, *(key for key, value in result.items() if _is_table(value))}
    first = [output.name for output in card.outputs if output.name in result]
    keys = [key for key in dict.fromkeys([*first, *result]) if key not in excluded]
    rows = [line for key in keys for line in _lines_of(key, result[key], intervals.get(key), outputs.get(key))]
    if len(rows) > MAX_LINES:
        rows[MAX_LINES:] = [ResultLine(f"and {len(rows) - MAX_LINES:,} more", "in the JSON")]
    return rows


@dataclass(frozen=True)
class ResultTable:
    """A part of a result that is a table: a matrix, rows with the same keys, or one row for each of several keys."""

    name: str
    columns: list[str]
    rows: list[list[str]]


def result_tables(result: Mapping[str, Any]) -> list[ResultTable]:
    """Return the parts of a result that are better shown as tables, at most `MAX_LINES` rows each."""
    row_tables = [
        ResultTable(key, *_table(value)) for key, value in result.items() if key not in EXTRA_KEYS and _is_rows(value)
    ]
    named = {key: value for key, value in result.items() if key not in EXTRA_KEYS and _is_row(value)}
    for keys in dict.fromkeys(tuple(value) for value in named.values()):
        rows = [[key, *map(format_value, value.values())] for key, value in named.items() if tuple(value) == keys]
        row_tables.append(ResultTable("", ["", *map(str, keys)], rows[:MAX_LINES]))
    return row_tables


def _is_table(value: Any) -> bool:
    return _is_rows(value) or _is_row(value)


def _is_row(value: Any) -> bool:
    """A dictionary of a few numbers or texts."""
    return isinstance(value, Mapping) and 1 < len(value) <= 12 and all(map(_is_plain, value.values()))


def _is_rows(value: Any) -> bool:
    """A list of at least one such dictionary with the same keys, or of at least two lists of as many numbers."""
    if not isinstance(value, list) or not value:
        return False
    if isinstance(value[0], Mapping):
        return all(_is_row(row) and row.keys() == value[0].keys() for row in value)
    return len(value) > 1 and all(
        isinstance(row, list) and len(row) == len(value[0]) and row and all(map(_is_plain, row)) for row in value
    )


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _table(value: list[Any]) -> tuple[list[str], list[list[str]]]:
    keyed = isinstance(value[0], Mapping)
    columns = ["", *(map(str, value[0]) if keyed else map(str, range(len(value[0]))))]
    rows = [[str(at), *map(format_value, row.values() if keyed else row)] for at, row in enumerate(value[:MAX_LINES])]
    return columns, rows


def _lines_of(name: str, value: Any, interval: Any, output: Output | None) -> Iterator[ResultLine]:
    low, high = (interval["low"], interval["high"]) if interval else (None, None)
    if isinstance(value, Mapping):
        for key, part in value.items():
            inner = {"low": _part(low, key), "high": _part(high, key)} if interval else None
            yield from _lines_of(f"{name} · {key}", part, inner, output)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, part in enumerate(value):
            inner = {"low": _part(low, at), "high": _part(high, at)} if interval else None
            yield from _lines_of(f"{name} [{at}]", part, inner, output)
    else:
        yield ResultLine(name, value, _number(low), _number(high), output)


def _part(bounds: Any, key: Any) -> Any:
    try:
        return bounds[key]
    except (KeyError, IndexError, TypeError):
        return None


def _number(bound: Any) -> float | None:
    return float(bound) if isinstance(bound, int | float) else None
