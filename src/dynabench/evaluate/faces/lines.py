"""A result as lines of a table: one for each number, with its interval, range and direction."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynabench.evaluate.card import Card, Output

LINES = 60
AROUND = ("interval", "per_example")


@dataclass(frozen=True)
class Line:
    """One number or text of a result. `low` and `high` are its interval, `output` what the card says of its key."""

    name: str
    value: Any
    low: float | None = None
    high: float | None = None
    output: Output | None = None

    @property
    def text(self) -> str:
        """The value, short."""
        return short(self.value)

    @property
    def scale(self) -> tuple[float, float] | None:
        """The range of what is measured, where it has two ends."""
        if self.output is None or self.output.low is None or self.output.high is None:
            return None
        return (self.output.low, self.output.high)

    def at(self, value: float) -> float:
        """Where a value lies on the scale, 0 to 100."""
        low, high = self.scale or (0.0, 1.0)
        return round(100 * min(max((value - low) / (high - low), 0.0), 1.0), 2)


def reach(output: Output) -> str:
    """The range and the direction of an output."""
    low, high = ("" if end is None else f"{end:g}" for end in (output.low, output.high))
    span = (
        f"{low} to {high}" if low and high else f"{low} or more" if low else f"{high} or less" if high else "any number"
    )
    return f"{span}, {output.better} is better" if output.better else span


def short(value: Any) -> str:
    """A number with four digits that matter, whole ones whole; nothing as a dash."""
    if value is None:
        return "\N{EN DASH}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (value == int(value) and abs(value) < 1e6):
        return f"{int(value):,}"
    if abs(value) >= 1e6 or (value and abs(value) < 1e-4):
        return f"{value:.3e}"
    return f"{value:,.{max(4 - 1 - math.floor(math.log10(abs(value))), 1) if abs(value) < 1 else 3}f}"


def lines(card: Card, result: Mapping[str, Any]) -> list[Line]:
    """The numbers of a result in the card's order, parts of lists and dictionaries under names of their own.

    Without what `tables` shows; at most `LINES`, and a last one for the rest.
    """
    outputs = {each.name: each for each in card.outputs}
    intervals = result.get("interval", {})
    apart = {*AROUND, *(key for key, value in result.items() if _is_table(value))}
    first = [each.name for each in card.outputs if each.name in result]
    kept = [key for key in dict.fromkeys([*first, *result]) if key not in apart]
    found = [line for key in kept for line in _of(key, result[key], intervals.get(key), outputs.get(key))]
    if len(found) > LINES:
        found[LINES:] = [Line(f"and {len(found) - LINES:,} more", "in the JSON")]
    return found


@dataclass(frozen=True)
class Table:
    """A part of a result that is a table: a matrix, rows with the same keys, or one row for each of several keys."""

    name: str
    columns: list[str]
    rows: list[list[str]]


def tables(result: Mapping[str, Any]) -> list[Table]:
    """What of a result is better seen as tables, at most `LINES` rows each."""
    found = [Table(key, *_table(value)) for key, value in result.items() if key not in AROUND and _is_rows(value)]
    named = {key: value for key, value in result.items() if key not in AROUND and _is_row(value)}
    for keys in dict.fromkeys(tuple(value) for value in named.values()):
        rows = [[key, *map(short, value.values())] for key, value in named.items() if tuple(value) == keys]
        found.append(Table("", ["", *map(str, keys)], rows[:LINES]))
    return found


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
    rows = [[str(at), *map(short, row.values() if keyed else row)] for at, row in enumerate(value[:LINES])]
    return columns, rows


def _of(name: str, value: Any, interval: Any, output: Output | None) -> Iterator[Line]:
    low, high = (interval["low"], interval["high"]) if interval else (None, None)
    if isinstance(value, Mapping):
        for key, part in value.items():
            inner = {"low": _part(low, key), "high": _part(high, key)} if interval else None
            yield from _of(f"{name} · {key}", part, inner, output)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, part in enumerate(value):
            inner = {"low": _part(low, at), "high": _part(high, at)} if interval else None
            yield from _of(f"{name} [{at}]", part, inner, output)
    else:
        yield Line(name, value, _number(low), _number(high), output)


def _part(bounds: Any, key: Any) -> Any:
    try:
        return bounds[key]
    except (KeyError, IndexError, TypeError):
        return None


def _number(bound: Any) -> float | None:
    return float(bound) if isinstance(bound, int | float) else None
