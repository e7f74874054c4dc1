"""Values, tables and charts of measures: on pages, in the command line, for programs."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dynabench.insight.data_measurements.measures import MEASURES
from dynabench.insight.data_measurements.results import Figure, Kind, Table
from dynabench.insight.data_measurements.service import RoundMeasurements
from dynabench.kit.language import Amount, _, current, joined, translate
from dynabench.web.charts import INK, INK_2, LINE, MODELS, PEOPLE, Chart, chart_data, compile_chart

FEW = 10  # from here on numbers are written with one place after the point


def format_value(value: Any, kind: Kind = "number") -> str:
    """Return a value in the form of its kind, for people: negative numbers have a minus sign, not a hyphen."""
    if value is None:
        return "–"
    if kind == "text":
        return value if isinstance(value, str) else str(value)
    if kind == "share":
        text = translate(Amount(value, ".1%"))
    elif kind == "count":
        text = translate(Amount(round(value)))
    elif kind == "p":
        text = translate(Amount(max(value, 0.01), ".2f") if value >= 0.01 else "< " + Amount(0.01, ".2f"))
    else:
        text = translate(Amount(value, ",.1f" if abs(value) >= FEW else ".2f"))
    return text.replace("-", "\N{MINUS SIGN}")


def format_interval(low: float | None, high: float | None, kind: Kind = "number") -> str:
    """Return an interval; empty where there is none."""
    return (
        ""
        if low is None or high is None
        else translate(_("%(low)s to %(high)s", low=format_value(low, kind), high=format_value(high, kind)))
    )


def round_document(measurements: RoundMeasurements) -> dict[str, Any]:
    """Return the visible results of a round as JSON values."""
    return {
        "round": measurements.round,
        "examples": measurements.examples,
        "total": measurements.total,
        "measured_at": measurements.at,
        "outdated": measurements.outdated,
        "measuring": measurements.in_progress,
        "kept_back": list(measurements.kept_back),
        "measures": [
            {
                "name": name,
                "title": MEASURES[name].title,
                "about": MEASURES[name].about,
                **_public_document(result.document()),
            }
            for name, result in measurements.results.items()
        ],
    }


def _public_document(document: dict[str, Any]) -> dict[str, Any]:
    return {
        **document,
        "tables": [{k: v for k, v in table.items() if k not in ("drawn", "line")} for table in document["tables"]],
    }


def compare_rounds(rounds: Sequence[RoundMeasurements]) -> list[tuple[str, list[Figure | None]]]:
    """Return the figures with a value in two rounds or more, one line each."""
    by_round = [
        {(name, figure.name): figure for name, result in of_round.results.items() for figure in result.figures}
        for of_round in rounds
    ]
    keys = dict.fromkeys(key for figures_by_key in by_round for key in figures_by_key)
    lines = []
    for key in keys:
        figures = [figures_by_key.get(key) for figures_by_key in by_round]
        defined = [figure for figure in figures if figure is not None and figure.value is not None]
        if len(defined) > 1:
            lines.append((joined(": ", (MEASURES[key[0]].title, defined[0].label)), figures))
    return lines


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
        [format_value(cell, heading.kind) for cell, heading in zip(row, measure_table.columns, strict=True)]
        for row in measure_table.rows
    ]


def _note(measure_table: Table) -> str:
    kind = measure_table.columns[1].kind
    if measure_table.line is None:
        return _("With 95% intervals.") if measure_table.drawn == "intervals" else ""
    at = format_value(measure_table.line, kind)
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
        between = format_interval(low, high, kind)
        label = format_value(row[1], kind)
        tip = f"{translate(row[0])}: {label}{f' ({between})' if between else ''}"
        low, high = (row[1] if limit is None else limit for limit in (low, high))
        points.append(
            {"name": translate(str(row[0])), "value": row[1], "low": low, "high": high, "label": label, "tip": tip}
        )
    return points


def _intervals(measure_table: Table, rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    import altair as alt

    colour = MODELS if measure_table.name in OF_MODELS else PEOPLE
    base = _named(_points(measure_table, rows))
    scale = alt.X(
        "low:Q", title=translate(measure_table.columns[1].label), axis=alt.Axis(**_axis(measure_table.columns[1].kind))
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
        "value:Q",
        title=translate(measure_table.columns[1].label),
        axis=alt.Axis(**_axis(measure_table.columns[1].kind)),
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
            "tip": f"{format_value(row[0], first.kind)}: {format_value(row[1], second.kind)}",
        }
        for row in rows
    ]
    base = alt.Chart(chart_data(points)).encode(
        x=alt.X("x:Q", title=translate(first.label), axis=alt.Axis(**_axis(first.kind), grid=False)),
        y=alt.Y("y:Q", title=translate(second.label), axis=alt.Axis(**_axis(second.kind)), scale=alt.Scale(zero=True)),
        tooltip="tip:N",
    )
    line = base.mark_line(color=LINE, strokeWidth=2)
    dot = base.mark_circle(color=PEOPLE, size=60, opacity=1)
    return compile_chart(alt.layer(line, dot).properties(width="container", height=220))
