"""Charts that pages draw as SVG: rows of intervals or bars, lines over time, shaded tables.

Places across are percent of the width and heights are pixels (`web/plots.html`), so that text keeps its size on a
phone. Pictures of boards, which are files, are drawn by Vega.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, ClassVar, Protocol

from dynabench.kit.language import _, translate
from dynabench.web.filters import day as short_day
from dynabench.web.filters import number, percent

PEOPLE, MODELS, INK, INK_2, LINE = "#c2571a", "#1f5fbf", "#1c1b18", "#57534b", "#dfdbd1"
LABEL_GAP = 14  # pixels between the names of two lines
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'
TOP, BOTTOM, BARS = 14, 190, 40  # of a plot of lines; its bars stand below
SHADES = 10
TICKS = 6
Ticks = tuple[tuple[float, str], ...]


class RateInterval(Protocol):
    """A share with its 95% interval, as in `stats.rates.Rate`; all None where `n` is 0."""

    @property
    def value(self) -> float | None: ...  # noqa: D102
    @property
    def low(self) -> float | None: ...  # noqa: D102
    @property
    def high(self) -> float | None: ...  # noqa: D102
    @property
    def n(self) -> int: ...  # noqa: D102


@dataclass(frozen=True)
class ChartRow:
    """A value with its name, the text of its number, a note, and the ends of its interval."""

    name: str
    value: float
    text: str
    note: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class RowPlot:
    """Values below each other on one axis from `low` to `high`, as `intervals` or `bars`, with their numbers.

    `actor` is people or models. `line` is a value that all are compared with, `people` the value of people.
    """

    kind: str
    rows: tuple[ChartRow, ...]
    ticks: Ticks
    low: float
    high: float
    actor: str = "people"
    line: float | None = None
    people: float | None = None

    def place(self, value: float) -> float:
        """Return the place of a value in percent of the axis."""
        return round(100 * min(1.0, max(0.0, (value - self.low) / (self.high - self.low))), 2)


@dataclass(frozen=True)
class Curve:
    """A line of a plot. `points` are (percent, pixels, text), `band` a polygon, `style` names its colour."""

    name: str
    points: tuple[tuple[float, float, str], ...]
    style: str = "people"
    band: str = ""
    label_y: float = 0.0
    extended: bool = False

    @property
    def path(self) -> str:
        """The points of the line; an extended one holds its height up to the right end."""
        places = [f"{x},{y}" for x, y, _text in self.points]
        return " ".join([*places, f"100,{self.points[-1][1]}"] if self.extended else places)


@dataclass(frozen=True)
class LinePlot:
    """Lines over time. `bars` are (percent, height, text) and stand below; `people` is the height of people's line."""

    kind: ClassVar[str] = "lines"
    curves: tuple[Curve, ...]
    x_ticks: Ticks
    y_ticks: Ticks
    bars: tuple[tuple[float, float, str], ...] = ()
    people: float | None = None
    top: float = TOP
    bottom: float = BOTTOM

    @property
    def height(self) -> float:
        """The height of the whole picture."""
        return self.bottom + (BARS if self.bars else 0) + 22


@dataclass(frozen=True)
class ShadedCell:
    """A number with the step of its shade, 0 to `SHADES`, and what it says in words."""

    text: str
    shade: int
    tip: str


@dataclass(frozen=True)
class ShadedTable:
    """Names above and on the left of shaded numbers; `corner` says what both are."""

    kind: ClassVar[str] = "shades"
    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[ShadedCell | None, ...]], ...]


@dataclass(frozen=True)
class Chart:
    """A chart: `title` states the finding; `plot` is drawn unless the title says all; `columns` and `rows` are a table.

    Plots whose numbers stand beside them have no table.
    """

    title: str
    plot: RowPlot | LinePlot | ShadedTable | None
    note: str = ""
    columns: list[str | tuple[str, str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def rate_over_rounds(rates: Sequence[tuple[int, RateInterval]], targets: Sequence[str] = ()) -> Chart | None:
    """A rate over rounds, with the targets of each; only its title for one round, None where no round has examples."""
    names = dict(zip((round_number for round_number, _rate in rates), targets, strict=False))
    known_rates = [(round_number, rate) for round_number, rate in rates if rate.value is not None]
    if not known_rates:
        return None
    labels = [f"{round_number}" for round_number, _rate in known_rates]
    title = _change("vMER", [rate for _number, rate in known_rates], _("round %(n)s"), labels[0], labels[-1])
    rows = []
    for round_number, rate in known_rates:
        name = translate(_("Round %(n)s", n=round_number))
        rows.append(rate_row(f"{name}, {names[round_number]}" if names.get(round_number) else name, rate))
    plot = rate_plot(rows) if len(rows) > 1 else None
    return Chart(
        title, plot, _("Share of examples that fooled the models and were verified by people, with 95% intervals.")
    )


def rates_per_day(
    rates: Sequence[tuple[str, RateInterval, RateInterval]],
    cumulative: Sequence[tuple[str, RateInterval, RateInterval]],
) -> Chart | None:
    """MER and vMER of all examples up to and including each UTC day (`2026-11-21`), and the examples of each day.

    `rates` are those of each day, of which the numbers of examples are drawn. None with fewer than two days.
    """
    days = [entry for entry in cumulative if entry[1].value is not None and entry[2].value is not None]
    if len(days) < 2:
        return None
    dates = [date.fromisoformat(day) for day, _mer, _vmer in days]
    span = max((dates[-1] - dates[0]).days, 1)
    places = [round(100 * (at - dates[0]).days / span, 2) for at in dates]
    curves = [
        _curve(name, style, list(zip(places, column, strict=True)), style == "people")
        for name, style, column in (
            ("MER", "ink", [mer for _day, mer, _vmer in days]),
            ("vMER", "people", [vmer for _day, _mer, vmer in days]),
        )
    ]
    counts = {day: mer.n for day, mer, _vmer in rates}
    most = max([*counts.values(), 1])
    bars = tuple(
        (place, round((BARS - 10) * counts[day] / most, 1), f"{short_day(day)}: {number(counts[day])}")
        for place, (day, _mer, _vmer) in zip(places, days, strict=True)
        if counts.get(day)
    )
    chosen = sorted({round(at * (len(days) - 1) / min(4, len(days) - 1)) for at in range(min(5, len(days)))})
    plot = LinePlot(
        tuple(spread_labels(curves)),
        tuple((places[at], short_day(days[at][0])) for at in chosen),
        tuple((_height(part / 4), percent(part / 4)) for part in range(5)),
        bars,
    )
    return Chart(
        _change("vMER", [vmer for _day, _mer, vmer in days], "", short_day(days[0][0]), short_day(days[-1][0])),
        plot,
        _(
            "MER counts every example that fooled the models, vMER those verified by people, each over all examples up "
            "to and including the day; votes come later. The band is the 95% interval, the bars are the examples of "
            "each UTC day."
        ),
        [_("Day"), "MER", (_("MER: 95% interval"), "num"), "vMER", (_("vMER: 95% interval"), "num"), ("n", "num")],
        [
            [day, percent(mer.value, 1), _between(mer), percent(vmer.value, 1), _between(vmer), number(mer.n)]
            for day, mer, vmer in days
        ],
    )


def rates_by_condition(rates: Sequence[tuple[str, RateInterval]]) -> Chart | None:
    """A rate by condition, such as the start or the source; None where fewer than two have examples."""
    known_rates = [(name, rate) for name, rate in rates if rate.value is not None]
    if len(known_rates) < 2:
        return None
    return Chart(
        _compare(known_rates),
        rate_plot([rate_row(name, rate) for name, rate in known_rates]),
        _("vMER with 95% intervals."),
    )


def rate_row(name: str, rate: RateInterval) -> ChartRow:
    """Return a share as a row of a plot."""
    value = rate.value or 0.0
    note = f"{percent(rate.low)}–{percent(rate.high)} · n {number(rate.n)}"
    return ChartRow(translate(name), value, percent(value), note, rate.low, rate.high)


def rate_plot(
    rows: Sequence[ChartRow], actor: str = "people", line: float | None = None, people: float | None = None
) -> RowPlot:
    """Return shares on an axis from 0 to 25, 50 or 100 percent, whichever holds all of them."""
    ends = [row.high if row.high is not None else row.value for row in rows]
    most = max([*ends, line or 0.0, people or 0.0])
    top = next(end for end in (0.25, 0.5, 1.0) if most <= end or end == 1.0)
    ticks = tuple((25.0 * part, percent(top * part / 4)) for part in range(5))
    if top == 0.25:
        ticks = tuple((20.0 * part, percent(top * part / 5)) for part in range(6))
    return RowPlot("intervals", tuple(rows), ticks, 0.0, top, actor, line, people)


def _curve(name: str, style: str, points: Sequence[tuple[float, RateInterval]], banded: bool) -> Curve:
    drawn = tuple(
        (x, _height(rate.value or 0.0), f"{name} {percent(rate.value, 1)} ({_between(rate)}), n {number(rate.n)}")
        for x, rate in points
    )
    above = [f"{x},{_height(rate.high or 0.0)}" for x, rate in points]
    below = [f"{x},{_height(rate.low or 0.0)}" for x, rate in reversed(points)]
    return Curve(name, drawn, style, " ".join(above + below) if banded else "", drawn[-1][1])


def _height(share: float) -> float:
    return round(BOTTOM - (BOTTOM - TOP) * share, 1)


def spread_labels(curves: Sequence[Curve], bottom: float = BOTTOM) -> list[Curve]:
    """Return the curves with labels at their ends that do not stand on each other or below `bottom`, in order."""
    order = sorted(range(len(curves)), key=lambda at: curves[at].points[-1][1])
    places: dict[int, float] = {}
    above = float("-inf")
    for at in order:
        above = places[at] = max(curves[at].points[-1][1] + 4, above + LABEL_GAP)
    below = bottom + 4 + LABEL_GAP
    for at in reversed(order):  # those pushed below the axis move up again
        below = places[at] = min(places[at], below - LABEL_GAP)
    return [
        Curve(curve.name, curve.points, curve.style, curve.band, round(places[at], 1), curve.extended)
        for at, curve in enumerate(curves)
    ]


def round_ticks(low: float, high: float) -> list[float]:
    """Return at most `TICKS` round numbers from `low` to `high`."""
    span = (high - low) or 1.0
    step = next(
        size * 10.0**power for power in range(-6, 12) for size in (1, 2, 5) if span / (size * 10.0**power) < TICKS
    )
    first = int(-(-low // step))
    return [round((first + at) * step, 9) for at in range(TICKS) if (first + at) * step <= high + 1e-9]


def _between(rate: RateInterval) -> str:
    return translate(_("%(low)s to %(high)s", low=percent(rate.low, 1), high=percent(rate.high, 1)))


def _differ(first: RateInterval, second: RateInterval) -> bool:
    """True where two intervals do not overlap: a cautious test, at about the 1 % level."""
    if first.low is None or first.high is None or second.low is None or second.high is None:
        return False
    return first.high < second.low or second.high < first.low


def _change(name: str, rates: Sequence[RateInterval], unit: str, first: str, last: str) -> str:
    """The finding of a series: fell, rose, or no clear change between its ends."""
    where, end = [translate(unit) % {"n": label} if unit else label for label in (first, last)]
    a, b = rates[0], rates[-1]
    values = {"name": name, "value": percent(a.value), "where": where}
    if len(rates) == 1:
        return (
            _("%(name)s is %(value)s in %(where)s", **values)
            if unit
            else _("%(name)s is %(value)s on %(where)s", **values)
        )
    if not _differ(a, b):
        return _("%(name)s has not clearly changed between %(where)s and %(end)s", name=name, where=where, end=end)
    values |= {"last": percent(b.value), "end": end}
    if (b.value or 0) < (a.value or 0):
        return _("%(name)s fell from %(value)s (%(where)s) to %(last)s (%(end)s)", **values)
    return _("%(name)s rose from %(value)s (%(where)s) to %(last)s (%(end)s)", **values)


def _compare(rates: Sequence[tuple[str, RateInterval]]) -> str:
    """The finding of a breakdown: the condition that fools most, if the data can tell."""
    if len(rates) == 1:
        return _("All examples so far: %(name)s, vMER %(value)s", name=rates[0][0], value=percent(rates[0][1].value))
    ordered = sorted(rates, key=lambda entry: entry[1].value or 0)
    (least, low), (most, high) = ordered[0], ordered[-1]
    if _differ(low, high):
        named, a, b = translate(most).capitalize(), percent(high.value), percent(low.value)
        return _("%(most)s fools more often than %(least)s: %(a)s against %(b)s", most=named, least=least, a=a, b=b)
    return _("No clear difference between %(least)s and %(most)s yet", least=least, most=most)


def chart_data(points: list[dict[str, Any]]) -> Any:
    """Return points as data for Altair."""
    import altair as alt

    return alt.Data(values=points)  # type: ignore[no-untyped-call]


def compile_chart(chart: Any, right: int = 28) -> dict[str, Any]:
    """Return the Vega spec of an Altair chart, in the fonts and lines of the pages."""
    import vl_convert

    axis = {"labelColor": INK_2, "titleColor": INK_2, "gridColor": LINE, "domainColor": LINE, "tickColor": LINE}
    text = {"labelFontSize": 13, "titleFontSize": 13, "titleFontWeight": 400, "titlePadding": 8}
    styled = chart.configure(
        font=FONT, background="transparent", padding={"left": 0, "top": 14, "right": right, "bottom": 0}
    )
    styled = styled.configure_view(stroke=None).configure_axis(**axis, **text)
    spec: dict[str, Any] = vl_convert.vegalite_to_vega(styled.to_dict())
    return spec
