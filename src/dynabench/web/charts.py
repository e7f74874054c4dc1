"""Charts as Vega-Lite documents: rates with intervals, heat maps, scatter plots, lines over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from dynabench.kit.language import _, translate
from dynabench.web.filters import day as short_day
from dynabench.web.filters import number, percent

PEOPLE, MODELS, INK, INK_2, LINE = "#c2571a", "#1f5fbf", "#1c1b18", "#57534b", "#dfdbd1"
MIN_DAILY = 20
"""Examples a day from which a rate of one day is drawn: below, it jumps between 0 and 100 %."""
LABEL_GAP = 0.08  # names of lines that end closer than this would stand on each other
FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif'


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
class Chart:
    """A chart: `title` states the finding; `spec` is Vega; `columns` and `rows` hold the same as a table."""

    title: str
    spec: dict[str, Any]
    columns: list[str | tuple[str, str]]
    rows: list[list[str]]
    note: str = ""


def rate_over_rounds(rates: Sequence[tuple[int, RateInterval]]) -> Chart | None:
    """A rate over rounds as dots with whiskers; None where no round has examples."""
    with_value = [(f"{number}", rate) for number, rate in rates if rate.value is not None]
    if not with_value:
        return None
    return Chart(
        title=_change(
            "vMER", [rate for _name, rate in with_value], _("round %(n)s"), with_value[0][0], with_value[-1][0]
        ),
        note=_("Share of examples that fooled the models and were verified by people, with 95% intervals."),
        spec=_dots([_point(name, rate) for name, rate in with_value], translate(_("Round"))),
        columns=[_("Round"), *_rate_columns()],
        rows=[[name, *_cells(rate)] for name, rate in with_value],
    )


def rates_per_day(
    rates: Sequence[tuple[str, RateInterval, RateInterval]],
    cumulative: Sequence[tuple[str, RateInterval, RateInterval]],
) -> Chart | None:
    """MER and vMER by UTC day (`2026-11-21`) as lines with bands; None where there is no day with examples.

    Each day's own `rates` where every day has at least `ENOUGH` examples; else `cumulative` ones, of all examples up
    to and including a day.
    """
    days = [entry for entry in rates if entry[1].value is not None]
    if not days:
        return None
    daily = len(days) == 1 or min(mer.n for _day, mer, _vmer in days) >= MIN_DAILY
    days = days if daily else [entry for entry in cumulative if entry[1].value is not None]
    points = [
        {**_point(day, rate), "series": series}
        for day, mer, vmer in days
        for series, rate in (("MER", mer), ("vMER", vmer))
    ]
    first, last = short_day(days[0][0]), short_day(days[-1][0])
    title = _change("vMER", [vmer for _day, _mer, vmer in days], "", first, last)
    return Chart(
        title=title,
        note=_(
            "MER counts every example that fooled the models, vMER those verified by people. The "
            "newest days lag: votes come later. Days are UTC; intervals are 95%."
        )
        if daily
        else _(
            "MER counts every example that fooled the models, vMER those verified by people, each "
            "over all examples up to and including the day, because some days have fewer than %(n)s. "
            "Votes come later. Days are UTC; intervals are 95%%.",
            n=MIN_DAILY,
        ),
        spec=_lines(points) if len(days) > 1 else _rows([_point("MER", days[0][1]), _point("vMER", days[0][2])]),
        columns=[
            _("Day"),
            "MER",
            (_("MER: 95% interval"), "num"),
            "vMER",
            (_("vMER: 95% interval"), "num"),
            ("n", "num"),
        ],  # fmt: skip,
        rows=[
            [day, percent(mer.value, 1), _between(mer), percent(vmer.value, 1), _between(vmer), number(mer.n)]
            for day, mer, vmer in days
        ],
    )


def rates_by_condition(rates: Sequence[tuple[str, RateInterval]], about: str) -> Chart | None:
    """A rate by condition, such as the start or the source, as rows of dots with whiskers; `about` names the column."""
    with_value = [(name, rate) for name, rate in rates if rate.value is not None]
    if not with_value:
        return None
    return Chart(
        title=_compare(with_value),
        note=_("vMER with 95% intervals."),
        spec=_rows([_point(name, rate) for name, rate in with_value]),
        columns=[about, *_rate_columns()],
        rows=[[name, *_cells(rate)] for name, rate in with_value],
    )


def _rate_columns() -> list[str | tuple[str, str]]:
    return [("vMER", "num"), (_("95% interval"), "num"), ("n", "num")]


def _point(name: str, rate: RateInterval) -> dict[str, Any]:
    value, low, high = rate.value, rate.low, rate.high
    text = f"{translate(name)}: {percent(value, 1)} ({_between(rate)}), n {number(rate.n)}"
    return {
        "name": translate(name),
        "value": value,
        "low": low,
        "high": high,
        "n": rate.n,
        "tip": text,
        "label": percent(value),
    }


def _between(rate: RateInterval) -> str:
    return translate(_("%(low)s to %(high)s", low=percent(rate.low, 1), high=percent(rate.high, 1)))


def _cells(rate: RateInterval) -> list[str]:
    return [percent(rate.value, 1), _between(rate), number(rate.n)]


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


def _dots(points: list[dict[str, Any]], axis: str) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(chart_data(points)).encode(
        x=alt.X("name:N", title=axis, sort=None, axis=alt.Axis(labelAngle=0, grid=False)), tooltip="tip:N"
    )
    scale = alt.Y("low:Q", title=translate(_("vMER (% of examples)")), axis=_percents(), scale=alt.Scale(zero=True))
    whisker = base.mark_rule(color=PEOPLE, strokeWidth=2, strokeCap="round").encode(y=scale, y2="high:Q")
    line = base.mark_line(color=LINE, strokeWidth=2).encode(y="value:Q")
    dot = base.mark_circle(color=PEOPLE, size=90, opacity=1).encode(y="value:Q")
    text = base.mark_text(align="left", dx=9, color=INK, fontSize=13).encode(y="value:Q", text="label:N")
    return compile_chart(alt.layer(line, whisker, dot, text).properties(width="container", height=220))


def _lines(points: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    colour = alt.Color("series:N", legend=None, scale=alt.Scale(domain=["MER", "vMER"], range=[INK_2, PEOPLE]))
    days = len({point["name"] for point in points})
    ticks = alt.Axis(format="%-d %b", tickCount=min(days, 7), grid=False, labelOverlap="greedy", labelSeparation=12)
    x = alt.X("name:T", title=translate(_("Day (UTC)")), timeUnit="utcyearmonthdate", axis=ticks)
    base = alt.Chart(chart_data(points)).encode(x=x, color=colour)
    y = alt.Y("low:Q", title=translate(_("% of examples")), axis=_percents(), scale=alt.Scale(zero=True))
    band = base.mark_area(opacity=0.14).encode(y=y, y2="high:Q")
    line = base.mark_line(strokeWidth=2).encode(y="value:Q")
    dot = base.mark_circle(size=48, opacity=1).encode(y="value:Q", tooltip="tip:N")
    last = max(point["name"] for point in points)
    ends = sorted((point for point in points if point["name"] == last), key=lambda point: -point["value"])
    close = ends[0]["value"] - ends[-1]["value"] < LABEL_GAP
    names = [
        alt.Chart(chart_data([end]))
        .mark_text(align="left", dx=8, dy=dy if close else 0, fontWeight=600, fontSize=13)
        .encode(x=x, color=colour, y="value:Q", text="series:N")
        for end, dy in zip(ends, (-8, 8), strict=False)
    ]
    return compile_chart(alt.layer(band, line, dot, *names).properties(width="container", height=240), right=44)


def _rows(points: list[dict[str, Any]]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(chart_data(points)).encode(
        y=alt.Y(
            "name:N",
            title=None,
            sort=None,
            axis=alt.Axis(grid=False, domain=False, ticks=False, labelFontSize=14, labelPadding=12),
        ),
        tooltip="tip:N",
    )
    scale = alt.X("low:Q", title=translate(_("% of examples")), axis=_percents(), scale=alt.Scale(zero=True))
    whisker = base.mark_rule(color=PEOPLE, strokeWidth=2, strokeCap="round").encode(x=scale, x2="high:Q")
    dot = base.mark_circle(color=PEOPLE, size=90, opacity=1).encode(x="value:Q")
    text = base.mark_text(align="left", dx=-4, dy=-13, color=INK, fontSize=13).encode(x="value:Q", text="label:N")
    return compile_chart(
        alt.layer(whisker, dot, text).properties(width="container", height=44 * len(points) + 12), right=40
    )


def chart_data(points: list[dict[str, Any]]) -> Any:
    """Return points as data for Altair."""
    import altair as alt

    return alt.Data(values=points)  # type: ignore[no-untyped-call]


def _percents() -> Any:
    import altair as alt

    return alt.Axis(format="%", tickCount=5, domain=False, ticks=False)


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


FEW = 5  # columns whose names may make them wide
DARKEST = 0.55  # opacity of the darkest cell: its number can be read on it, in light and in dark
WIDTH, HEIGHT = 92, 44  # of a cell
MAX_NAMED_POINTS = 8  # points that are all named
MAX_CELL_WIDTH = 180  # of a cell that has room for its column's name
LETTER = 7.6  # width of a letter of a label


def heat_map(
    cells: Sequence[dict[str, Any]], better: str = "higher", columns: Sequence[str] = (), whole: bool = False
) -> dict[str, Any]:
    """Return a heat map.

    A cell has `row`, `column`, `value`, `label`, `note` (a smaller line) and `tip`; more is darker.

    Where less is better, `better` is "lower" and less is darker. Rows keep the order of the cells, columns that of
    `columns`, else the same. `whole` says that values are shares, of which 0 is the palest and 1 the darkest.
    """
    import altair as alt

    values = [cell["value"] for cell in cells]
    low, high = (0.0, 1.0) if whole else (min(values), max(values))
    spread = (high - low) or 1.0
    shades = [(value - low) / spread if better == "higher" else (high - value) / spread for value in values]
    points = [{**cell, "shade": round(DARKEST * shade, 3)} for cell, shade in zip(cells, shades, strict=True)]
    rows, names = len({cell["row"] for cell in cells}), {cell["column"] for cell in cells}
    longest = max(map(len, names)) * LETTER + 8
    wide = int(max(WIDTH, min(MAX_CELL_WIDTH, longest))) if len(names) <= FEW else WIDTH
    slanted = longest > wide and len(names) > FEW
    axis = alt.Axis(labelAngle=-35 if slanted else 0, labelAlign="left" if slanted else "center", orient="top",
                    grid=False, domain=False, ticks=False,
                    labelLimit=MAX_CELL_WIDTH if slanted else wide - 6)  # fmt: skip
    side = alt.Axis(grid=False, domain=False, ticks=False, labelLimit=150, labelPadding=8)
    has_notes = any(cell["note"] for cell in cells)
    base = alt.Chart(chart_data(points)).encode(
        x=alt.X("column:N", sort=list(columns) or None, title=None, axis=axis, scale=alt.Scale(paddingInner=0.03)),
        y=alt.Y("row:N", sort=None, title=None, axis=side, scale=alt.Scale(paddingInner=0.06)),
        tooltip="tip:N",
    )
    field = base.mark_rect(color=MODELS, cornerRadius=3).encode(opacity=alt.Opacity("shade:Q", scale=None))
    frame = base.mark_rect(filled=False, stroke=LINE, cornerRadius=3)
    number = base.mark_text(color=INK, fontSize=14, fontWeight=600, dy=-6 if has_notes else 0).encode(text="label:N")
    below = base.mark_text(color=INK, fontSize=11, dy=11).encode(text="note:N")
    chart = alt.layer(frame, field, number, below).properties(width=alt.Step(wide), height=HEIGHT * rows)
    return compile_chart(chart, right=8)


def saturation_lines(points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Lines over time of points with `series`, `at` (ISO), `value` and `tip`: people at 0, first models at -1."""
    import altair as alt

    days = len({point["at"][:10] for point in points})  # of one instant an axis in time would show milliseconds
    ticks = alt.Axis(format="%-d %b %Y", tickCount=min(days, 6), grid=False, labelOverlap="greedy")
    x = alt.X("at:T", title=None, timeUnit="utcyearmonthdate", axis=ticks)
    y = alt.Y(
        "value:Q",
        title=translate(_("first model −1, people 0")),
        scale=alt.Scale(domainMin=-1.1),
        axis=alt.Axis(tickCount=5),
    )
    base = alt.Chart(chart_data(list(points))).encode(x=x, y=y, detail="series:N", tooltip="tip:N")
    line = base.mark_line(color=MODELS, strokeWidth=2, interpolate="step-after")
    dot = base.mark_circle(color=MODELS, size=60, opacity=1)
    last = {point["series"]: point for point in points}
    ends = alt.Chart(chart_data(list(last.values()))).encode(x=x, y=y, text="series:N")
    names = ends.mark_text(align="left", dx=8, color=INK, fontSize=13)
    people = alt.Chart(chart_data([{"value": 0.0, "text": translate(_("people"))}]))
    rule = people.mark_rule(color=PEOPLE, strokeWidth=2, strokeDash=[6, 4]).encode(y="value:Q")
    named = people.mark_text(color=PEOPLE, align="left", dx=4, dy=-9, x=0, fontSize=13, fontWeight=600)
    chart = alt.layer(rule, line, dot, names, named.encode(y="value:Q", text="text:N"))
    return compile_chart(chart.properties(width="container", height=300), right=90)
