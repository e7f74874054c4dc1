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
    """All numbers of a result in its order, nested ones under `a · b`, at most `LINES` and a last one for the rest."""
    outputs = {each.name: each for each in card.outputs}
    intervals = result.get("interval", {})
    kept = {key: value for key, value in result.items() if key not in AROUND}
    found = [line for key, value in kept.items() for line in _of(key, value, intervals.get(key), outputs.get(key))]
    if len(found) > LINES:
        found[LINES:] = [Line(f"and {len(found) - LINES:,} more", "in the JSON")]
    return found


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
