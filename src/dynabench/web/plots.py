"""Charts of models: a heat map, two measures against each other, and lines from -1 to 0."""

from collections.abc import Sequence
from typing import Any

from dynabench.kit.language import _, said
from dynabench.web.charts import INK, INK_2, LINE, MODELS, PEOPLE, chart_data, compile_chart

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


def scatter(points: Sequence[dict[str, Any]], x: str, y: str) -> dict[str, Any]:
    """Points with `name`, `x`, `y` and limits (`x_low`, ...), `dominated` and `tip`; the others are joined and named.

    Where there are few, the dominated ones are named as well.
    `x` and `y` are the titles of the axes.
    """
    import altair as alt

    front = [point for point in points if not point["dominated"]]
    rest = [point for point in points if point["dominated"]]
    across = alt.X("x:Q", title=x, scale=alt.Scale(zero=False, padding=24), axis=alt.Axis(tickCount=5))
    up = alt.Y("y:Q", title=y, scale=alt.Scale(zero=False, padding=24), axis=alt.Axis(tickCount=5))

    def base_chart(some: Sequence[dict[str, Any]]) -> Any:
        return alt.Chart(chart_data(list(some))).encode(x=across, y=up, tooltip="tip:N")

    layers = [base_chart(front).mark_line(color=LINE, strokeWidth=2).encode(order="x:Q")]
    for some, colour in ((rest, INK_2), (front, MODELS)):
        faint = 1.0 if some is front else 0.55
        wide = [point for point in some if point["x_low"] is not None]
        tall = [point for point in some if point["y_low"] is not None]
        layers += (
            [base_chart(wide).mark_rule(color=colour, opacity=faint).encode(x="x_low:Q", x2="x_high:Q")] if wide else []
        )
        layers += (
            [base_chart(tall).mark_rule(color=colour, opacity=faint).encode(y="y_low:Q", y2="y_high:Q")] if tall else []
        )
        layers += [base_chart(some).mark_circle(color=colour, size=90, opacity=faint)] if some else []
    middle = (min(point["x"] for point in points) + max(point["x"] for point in points)) / 2
    named = points if len(points) <= MAX_NAMED_POINTS else front
    for align, dx in (("left", 8), ("right", -8)):  # into the plot, which no name makes narrower
        some = [point for point in named if (point["x"] > middle) == (align == "right")]
        text = base_chart(some).mark_text(align=align, dx=dx, dy=-8, color=INK, fontSize=13)
        layers += [text.encode(text="name:N")] if some else []
    return compile_chart(alt.layer(*layers).properties(width="container", height=360), right=16)


def saturation_lines(points: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Lines over time of points with `series`, `at` (ISO), `value` and `tip`: people at 0, first models at -1."""
    import altair as alt

    days = len({point["at"][:10] for point in points})  # of one instant an axis in time would show milliseconds
    ticks = alt.Axis(format="%-d %b %Y", tickCount=min(days, 6), grid=False, labelOverlap="greedy")
    x = alt.X("at:T", title=None, timeUnit="utcyearmonthdate", axis=ticks)
    y = alt.Y(
        "value:Q",
        title=said(_("first model −1, people 0")),
        scale=alt.Scale(domainMin=-1.1),
        axis=alt.Axis(tickCount=5),
    )
    base = alt.Chart(chart_data(list(points))).encode(x=x, y=y, detail="series:N", tooltip="tip:N")
    line = base.mark_line(color=MODELS, strokeWidth=2, interpolate="step-after")
    dot = base.mark_circle(color=MODELS, size=60, opacity=1)
    last = {point["series"]: point for point in points}
    ends = alt.Chart(chart_data(list(last.values()))).encode(x=x, y=y, text="series:N")
    names = ends.mark_text(align="left", dx=8, color=INK, fontSize=13)
    people = alt.Chart(chart_data([{"value": 0.0, "text": said(_("people"))}]))
    rule = people.mark_rule(color=PEOPLE, strokeWidth=2, strokeDash=[6, 4]).encode(y="value:Q")
    named = people.mark_text(color=PEOPLE, align="left", dx=4, dy=-9, x=0, fontSize=13, fontWeight=600)
    chart = alt.layer(rule, line, dot, names, named.encode(y="value:Q", text="text:N"))
    return compile_chart(chart.properties(width="container", height=300), right=90)
