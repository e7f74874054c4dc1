"""Small multiples as SVG, written by hand: lines, bands and a table of shades, for light and dark pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

WIDE, HIGH = 320, 200
LEFT, RIGHT, TOP, BELOW = 46, 12, 34, 30
COLUMNS = 2
COLOURS = {
    "random": ("#5b6472", "#aab3c2"),
    "uncertain": ("#8a5a00", "#e0a93f"),
    "adversarial": ("#b3261e", "#ff8a80"),
    "mixed": ("#6a3fb5", "#c2a5ff"),
    "fixed": ("#0b6b74", "#5fd0d9"),
}
"""Of each arm on light and on dark pages."""
DASHES = {"uncertain": "6 3", "mixed": "2 3", "fixed": "8 3 2 3"}


@dataclass(frozen=True)
class Panel:
    """Curves over rounds by arm, as shares; a curve's first point stands at `first`, or its points at `marks`."""

    title: str
    curves: Mapping[str, Sequence[float]]
    first: int = 1
    marks: Sequence[int] = ()
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] = field(default_factory=dict)
    share: bool = True


@dataclass(frozen=True)
class Shades:
    """A table of numbers, rows from top to bottom: the largest is darkest, the smallest lightest."""

    title: str
    cells: Sequence[Sequence[float | None]]


def page(panels: Sequence[Panel | Shades], names: Mapping[str, str], about: str) -> str:
    """One picture of all panels, with a legend of the arms above."""
    rows = -(-len(panels) // COLUMNS)
    width, height = COLUMNS * WIDE, rows * HIGH + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(about)}">',
        f"<title>{escape(about)}</title>",
        f"<style>{_style()}</style>",
        _legend(names),
    ]
    for place, panel in enumerate(panels):
        x, y = place % COLUMNS * WIDE, place // COLUMNS * HIGH + 26
        drawn = _shades(panel) if isinstance(panel, Shades) else _lines(panel)
        parts.append(
            f'<g transform="translate({x} {y})"><text class="t" x="8" y="18">{escape(panel.title)}</text>{drawn}</g>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _style() -> str:
    def of(which: int) -> str:
        return "".join(f".{arm}{{stroke:{each[which]}}}.f-{arm}{{fill:{each[which]}}}" for arm, each in COLOURS.items())

    return (
        "text{font:11px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:12px}.g{stroke:#8884}"
        ".z{stroke:#888}.l{fill:none;stroke-width:1.8}.b{opacity:.18}.s{fill:#b3261e}" + of(0) +
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.s{fill:#ff8a80}" + of(1) + "}"
    )  # fmt: skip


def _legend(names: Mapping[str, str]) -> str:
    parts, x = [], 10
    for arm, name in names.items():
        parts.append(
            f'<path class="l {arm}" {_dash(arm)} d="M{x} 13h22"/><text x="{x + 27}" y="17">{escape(name)}</text>'
        )
        x += 45 + 7 * len(name)
    return "".join(parts)


def _lines(panel: Panel) -> str:
    values = [value for curve in panel.curves.values() for value in curve]
    values += [value for sides in panel.bands.values() for side in sides for value in side]
    low, high = _limits(min(values), max(values))
    last = max(panel.marks or [panel.first + max(map(len, panel.curves.values())) - 1])
    first = min(panel.marks or [panel.first])

    def x(at: float) -> float:
        return LEFT + (at - first) / max(1, last - first) * (WIDE - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HIGH - TOP - BELOW)

    def places(curve: Sequence[float]) -> list[str]:
        marks = panel.marks or range(panel.first, panel.first + len(curve))
        return [f"{x(at):.1f} {y(value):.1f}" for at, value in zip(marks, curve, strict=True)]

    parts = [_grid(value, y, panel.share) for value in _round_values(low, high)]
    if low < 0 < high:
        parts.append(f'<path class="z" d="M{LEFT} {y(0):.1f}H{WIDE - RIGHT}"/>')
    parts += [
        f'<text x="{x(at):.1f}" y="{HIGH - 12}" text-anchor="middle">{at}</text>'
        for at in panel.marks or _ticks(first, last)
    ]
    for arm, (lower, upper) in panel.bands.items():
        parts.append(f'<path class="b f-{arm}" d="M{"L".join(places(lower) + places(upper)[::-1])}Z"/>')
    for arm, curve in panel.curves.items():
        parts.append(f'<path class="l {arm}" {_dash(arm)} d="M{"L".join(places(curve))}"/>')
    return "".join(parts)


def _shades(panel: Shades) -> str:
    wide = (WIDE - LEFT - RIGHT) / max(map(len, panel.cells))
    high = (HIGH - TOP - BELOW) / len(panel.cells)
    known = [value for cells in panel.cells for value in cells if value is not None]
    least, most = min(known), max(max(known), min(known) + 1e-9)
    parts = [
        f'<rect class="s" x="{LEFT + at * wide:.1f}" y="{TOP + row * high:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'opacity="{0.12 + 0.88 * (value - least) / (most - least):.2f}"/>'
        for row, cells in enumerate(panel.cells)
        for at, value in enumerate(cells)
        if value is not None
    ]
    ticks = [
        f'<text x="{LEFT + (at - 0.5) * wide:.1f}" y="{HIGH - 12}" text-anchor="middle">{at}</text>'
        f'<text x="{LEFT - 6}" y="{TOP + (at - 0.5) * high + 4:.1f}" text-anchor="end">{at}</text>'
        for at in _ticks(1, len(panel.cells))
    ]
    return "".join(parts + ticks)


def _grid(value: float, y: Callable[[float], float], share: bool) -> str:
    at = y(value)
    told = f"{round(100 * value, 6):g} %" if share else f"{round(value, 6):g}"
    line = f'<path class="g" d="M{LEFT} {at:.1f}H{WIDE - RIGHT}"/>'
    return f'{line}<text x="{LEFT - 5}" y="{at + 4:.1f}" text-anchor="end">{told}</text>'


def _limits(low: float, high: float) -> tuple[float, float]:
    room = max(high - low, 1e-3) * 0.06
    return low - room, high + room


def _round_values(low: float, high: float) -> list[float]:
    """Three to six values that are easy to read: multiples of 1, 2 or 5 and a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= rough)
    return [number * step for number in range(ceil(low / step), floor(high / step) + 1)]


def _ticks(first: int, last: int) -> list[int]:
    step = max(1, (last - first + 1) // 4)
    return sorted({first, *range(step, last + 1, step), last} & set(range(first, last + 1)))


def _dash(arm: str) -> str:
    return f'stroke-dasharray="{DASHES[arm]}"' if arm in DASHES else ""
