"""The pictures of measures' tables, each with its numbers as a table beside it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dynabench.insight.data_measurements import formatting
from dynabench.insight.data_measurements.results import Kind, Table
from dynabench.kit.language import _, current, said
from dynabench.web.charts import INK, INK_2, LINE, MODELS, PEOPLE, Chart, chart_data, compile_chart

OF_MODELS = ("baselines", "targets", "later")
"""Tables about models; the others are about people."""
NAME = 200  # pixels of a row's name
ROW = 40


def table_chart(measure_table: Table) -> Chart | None:
    """The picture of a table, in the current language; None for one that is read as it is."""
    return _chart(measure_table, current.get())


@lru_cache(maxsize=256)
def _chart(measure_table: Table, language: str) -> Chart | None:
    known_rows = [row for row in measure_table.rows if row[1] is not None]
    if not measure_table.drawn or not known_rows:
        return None
    draw = {"intervals": _intervals, "bars": _bars, "lines": _lines}[measure_table.drawn]
    return Chart(
        measure_table.title,
        draw(measure_table, known_rows),
        table_header(measure_table),
        table_lines(measure_table),
        _note(measure_table),
    )


def table_header(measure_table: Table) -> list[str | tuple[str, str]]:
    """Columns as `components.table` takes them."""
    return [heading.label if heading.kind == "text" else (heading.label, "num") for heading in measure_table.columns]


def table_lines(measure_table: Table) -> list[list[str]]:
    """Rows in words."""
    return [
        [formatting.format_value(cell, heading.kind) for cell, heading in zip(row, measure_table.columns, strict=True)]
        for row in measure_table.rows
    ]


def _note(measure_table: Table) -> str:
    kind = measure_table.columns[1].kind
    if measure_table.line is None:
        return _("With 95% intervals.") if measure_table.drawn == "intervals" else ""
    at = formatting.format_value(measure_table.line, kind)
    if measure_table.name == "baselines":
        return _("With 95%% intervals. The line is at %(at)s: always giving the most frequent answer.", at=at)
    return _("With 95%% intervals. The line is at %(at)s: equally frequent answers.", at=at)


def _axis(kind: Kind) -> dict[str, Any]:
    return {"format": "%" if kind == "share" else "~s", "tickCount": 5, "domain": False, "ticks": False}


def _points(measure_table: Table, rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    kind, spans = measure_table.columns[1].kind, measure_table.drawn == "intervals"
    points = []
    for row in rows:
        low, high = (row[2], row[3]) if spans else (None, None)
        between = formatting.format_interval(low, high, kind)
        label = formatting.format_value(row[1], kind)
        tip = f"{said(row[0])}: {label}{f' ({between})' if between else ''}"
        low, high = (row[1] if limit is None else limit for limit in (low, high))
        points.append(
            {"name": said(str(row[0])), "value": row[1], "low": low, "high": high, "label": label, "tip": tip}
        )
    return points


def _intervals(measure_table: Table, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    import altair as alt

    colour = MODELS if measure_table.name in OF_MODELS else PEOPLE
    base = _named(_points(measure_table, rows))
    scale = alt.X(
        "low:Q", title=said(measure_table.columns[1].label), axis=alt.Axis(**_axis(measure_table.columns[1].kind))
    )
    layers = [
        base.mark_rule(color=colour, strokeWidth=2, strokeCap="round").encode(x=scale, x2="high:Q"),
        base.mark_circle(color=colour, size=90, opacity=1).encode(x="value:Q"),
        base.mark_text(align="left", dx=-4, dy=-13, color=INK, fontSize=13).encode(x="value:Q", text="label:N"),
    ]
    if measure_table.line is not None:
        line = (
            alt.Chart(chart_data([{"at": measure_table.line}]))
            .mark_rule(color=INK_2, strokeDash=[4, 4])
            .encode(x="at:Q")
        )
        layers.insert(0, line)
    return compile_chart(alt.layer(*layers).properties(width="container", height=(ROW + 4) * len(rows) + 12), right=48)


def _bars(measure_table: Table, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    import altair as alt

    base = _named(_points(measure_table, rows))
    scale = alt.X(
        "value:Q", title=said(measure_table.columns[1].label), axis=alt.Axis(**_axis(measure_table.columns[1].kind))
    )
    bar = base.mark_bar(color=PEOPLE, height=14, cornerRadiusEnd=3).encode(x=scale)
    text = base.mark_text(align="left", dx=6, color=INK, fontSize=13).encode(x="value:Q", text="label:N")
    return compile_chart(alt.layer(bar, text).properties(width="container", height=28 * len(rows) + 8), right=56)


def _named(points: list[dict[str, Any]]) -> Any:
    import altair as alt

    side = alt.Axis(grid=False, domain=False, ticks=False, labelFontSize=14, labelPadding=10, labelLimit=NAME)
    return alt.Chart(chart_data(points)).encode(y=alt.Y("name:N", title=None, sort=None, axis=side), tooltip="tip:N")


def _lines(measure_table: Table, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    import altair as alt

    first, second = measure_table.columns[:2]
    points = [
        {
            "x": row[0],
            "y": row[1],
            "tip": f"{formatting.format_value(row[0], first.kind)}: {formatting.format_value(row[1], second.kind)}",
        }
        for row in rows
    ]
    base = alt.Chart(chart_data(points)).encode(
        x=alt.X("x:Q", title=said(first.label), axis=alt.Axis(**_axis(first.kind), grid=False)),
        y=alt.Y("y:Q", title=said(second.label), axis=alt.Axis(**_axis(second.kind)), scale=alt.Scale(zero=True)),
        tooltip="tip:N",
    )
    line = base.mark_line(color=LINE, strokeWidth=2)
    dot = base.mark_circle(color=PEOPLE, size=60, opacity=1)
    return compile_chart(alt.layer(line, dot).properties(width="container", height=220))
