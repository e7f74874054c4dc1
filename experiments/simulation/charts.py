"""Small charts side by side as one SVG picture, for light and dark pages: lines with bands, and a heat map."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from math import ceil, floor, log10

WIDTH, HEIGHT = 320, 200
LEFT, RIGHT, TOP, BOTTOM = 46, 12, 34, 30
COLUMNS = 2
COLOURS = {
    "random": ("#5b6472", "#aab3c2"),
    "uncertain": ("#8a5a00", "#e0a93f"),
    "adversarial": ("#b3261e", "#ff8a80"),
    "mixed": ("#6a3fb5", "#c2a5ff"),
    "fixed": ("#0b6b74", "#5fd0d9"),
}
"""Colours of each arm on light and on dark pages."""
DASHES = {"uncertain": "6 3", "mixed": "2 3", "fixed": "8 3 2 3"}


@dataclass(frozen=True)
class LineChart:
    """Curves over rounds by arm, in percent if `share`; points are at rounds from `first` on, or at `marks`."""

    title: str
    curves: Mapping[str, Sequence[float]]
    first: int = 1
    marks: Sequence[int] = ()
    bands: Mapping[str, tuple[Sequence[float], Sequence[float]]] = field(default_factory=dict)
    share: bool = True


@dataclass(frozen=True)
class HeatMap:
    """A table of numbers, rows from top to bottom: the largest is darkest, the smallest lightest."""

    title: str
    cells: Sequence[Sequence[float | None]]


def draw_charts(charts: Sequence[LineChart | HeatMap], names: Mapping[str, str], description: str) -> str:
    """Draw all charts as one SVG picture, with a legend of the arms above."""
    rows = -(-len(charts) // COLUMNS)
    width, height = COLUMNS * WIDTH, rows * HEIGHT + 26
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{escape(description)}">',
        f"<title>{escape(description)}</title>",
        f"<style>{_style_sheet()}</style>",
        _draw_legend(names),
    ]
    for index, chart in enumerate(charts):
        x, y = index % COLUMNS * WIDTH, index // COLUMNS * HEIGHT + 26
        drawing = _draw_heat_map(chart) if isinstance(chart, HeatMap) else _draw_lines(chart)
        parts.append(
            f'<g transform="translate({x} {y})"><text class="t" x="8" y="18">{escape(chart.title)}</text>{drawing}</g>'
        )
    return "\n".join([*parts, "</svg>", ""])


def _style_sheet() -> str:
    def colour_arms(scheme: int) -> str:
        return "".join(
            f".{arm}{{stroke:{colours[scheme]}}}.f-{arm}{{fill:{colours[scheme]}}}" for arm, colours in COLOURS.items()
        )

    return (
        "text{font:11px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:12px}.g{stroke:#8884}"
        ".z{stroke:#888}.l{fill:none;stroke-width:1.8}.b{opacity:.18}.s{fill:#b3261e}" + colour_arms(0) +
        "@media(prefers-color-scheme:dark){text{fill:#ddd}.s{fill:#ff8a80}" + colour_arms(1) + "}"
    )  # fmt: skip


def _draw_legend(names: Mapping[str, str]) -> str:
    parts, x = [], 10
    for arm, name in names.items():
        parts.append(f'<path class="l {arm}" {_dash_attribute(arm)} d="M{x} 13h22"/>')
        parts.append(f'<text x="{x + 27}" y="17">{escape(name)}</text>')
        x += 45 + 7 * len(name)
    return "".join(parts)


def _draw_lines(chart: LineChart) -> str:
    values = [value for curve in chart.curves.values() for value in curve]
    values += [value for band in chart.bands.values() for side in band for value in side]
    low, high = _widen_range(min(values), max(values))
    last = max(chart.marks or [chart.first + max(map(len, chart.curves.values())) - 1])
    first = min(chart.marks or [chart.first])

    def x(number: float) -> float:
        return LEFT + (number - first) / max(1, last - first) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def points(curve: Sequence[float]) -> list[str]:
        marks = chart.marks or range(chart.first, chart.first + len(curve))
        return [f"{x(number):.1f} {y(value):.1f}" for number, value in zip(marks, curve, strict=True)]

    parts = [_draw_grid_line(value, y, chart.share) for value in _choose_round_values(low, high)]
    if low < 0 < high:
        parts.append(f'<path class="z" d="M{LEFT} {y(0):.1f}H{WIDTH - RIGHT}"/>')
    parts += [
        f'<text x="{x(number):.1f}" y="{HEIGHT - 12}" text-anchor="middle">{number}</text>'
        for number in chart.marks or _choose_ticks(first, last)
    ]
    for arm, (lower, upper) in chart.bands.items():
        parts.append(f'<path class="b f-{arm}" d="M{"L".join(points(lower) + points(upper)[::-1])}Z"/>')
    for arm, curve in chart.curves.items():
        parts.append(f'<path class="l {arm}" {_dash_attribute(arm)} d="M{"L".join(points(curve))}"/>')
    return "".join(parts)


def _draw_heat_map(chart: HeatMap) -> str:
    width = (WIDTH - LEFT - RIGHT) / max(map(len, chart.cells))
    height = (HEIGHT - TOP - BOTTOM) / len(chart.cells)
    values = [value for cells in chart.cells for value in cells if value is not None]
    least, most = min(values), max(max(values), min(values) + 1e-9)
    parts = [
        f'<rect class="s" x="{LEFT + column * width:.1f}" y="{TOP + row * height:.1f}" width="{width:.1f}" '
        f'height="{height:.1f}" opacity="{0.12 + 0.88 * (value - least) / (most - least):.2f}"/>'
        for row, cells in enumerate(chart.cells)
        for column, value in enumerate(cells)
        if value is not None
    ]
    ticks = [
        f'<text x="{LEFT + (number - 0.5) * width:.1f}" y="{HEIGHT - 12}" text-anchor="middle">{number}</text>'
        f'<text x="{LEFT - 6}" y="{TOP + (number - 0.5) * height + 4:.1f}" text-anchor="end">{number}</text>'
        for number in _choose_ticks(1, len(chart.cells))
    ]
    return "".join(parts + ticks)


def _draw_grid_line(value: float, y: Callable[[float], float], share: bool) -> str:
    line_y = y(value)
    label = f"{round(100 * value, 6):g} %" if share else f"{round(value, 6):g}"
    line = f'<path class="g" d="M{LEFT} {line_y:.1f}H{WIDTH - RIGHT}"/>'
    return f'{line}<text x="{LEFT - 5}" y="{line_y + 4:.1f}" text-anchor="end">{label}</text>'


def _widen_range(low: float, high: float) -> tuple[float, float]:
    margin = max(high - low, 1e-3) * 0.06
    return low - margin, high + margin


def _choose_round_values(low: float, high: float) -> list[float]:
    """Choose three to six values that are easy to read: multiples of 1, 2 or 5 and a power of ten."""
    rough = (high - low) / 5
    power = 10.0 ** floor(log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    return [number * step for number in range(ceil(low / step), floor(high / step) + 1)]


def _choose_ticks(first: int, last: int) -> list[int]:
    step = max(1, (last - first + 1) // 4)
    return sorted({first, *range(step, last + 1, step), last} & set(range(first, last + 1)))


def _dash_attribute(arm: str) -> str:
    return f'stroke-dasharray="{DASHES[arm]}"' if arm in DASHES else ""
