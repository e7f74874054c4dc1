"""Values, tables and charts of measures: on pages, in the command line, for programs."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from dynabench.insight.data_measurements.measures import MEASURES
from dynabench.insight.data_measurements.results import Figure, Kind, Table
from dynabench.insight.data_measurements.service import RoundMeasurements
from dynabench.kit.language import Amount, _, current, joined, translate
from dynabench.web.charts import BOTTOM, TOP, Chart, ChartRow, Curve, LinePlot, RowPlot, round_ticks

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
        "tables": [
            {k: v for k, v in table.items() if k not in ("drawn", "line", "human")} for table in document["tables"]
        ],
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


def table_chart(measure_table: Table) -> Chart | None:
    """The picture of a table, in the current language; None for one that is read as it is."""
    return _chart(measure_table, current.get())


@lru_cache(maxsize=256)
def _chart(measure_table: Table, language: str) -> Chart | None:
    known_rows = [row for row in measure_table.rows if row[1] is not None]
    if not measure_table.drawn or len(known_rows) < 2:
        return None
    lines = measure_table.drawn == "lines"
    plot = _lines(measure_table, known_rows) if lines else _rows(measure_table, known_rows)
    if not lines and len(measure_table.columns) <= (4 if measure_table.drawn == "intervals" else 2):
        return Chart(measure_table.title, plot, _note(measure_table))
    return Chart(
        measure_table.title, plot, _note(measure_table), table_header(measure_table), table_lines(measure_table)
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


def _rows(measure_table: Table, rows: Sequence[Sequence[Any]]) -> RowPlot:
    kind, spans = measure_table.columns[1].kind, measure_table.drawn == "intervals"
    drawn = []
    for row in rows:
        low, high = (row[2], row[3]) if spans else (None, None)
        text = format_value(row[1], kind)
        drawn.append(ChartRow(translate(str(row[0])), row[1], text, format_interval(low, high, kind), low, high))
    ends = [end for row in drawn for end in (row.value, row.low, row.high) if end is not None]
    ends += [value for value in (measure_table.line, measure_table.human) if value is not None]
    low, high = min(0.0, *ends), max(ends)
    high = high if high > low else low + 1.0
    ticks = (
        tuple((round(100 * (tick - low) / (high - low), 2), _tick(tick, kind)) for tick in round_ticks(low, high))
        if spans
        else ()
    )
    actor = "models" if measure_table.name in OF_MODELS else "people"
    return RowPlot(measure_table.drawn, tuple(drawn), ticks, low, high, actor, measure_table.line, measure_table.human)


def _tick(value: float, kind: Kind) -> str:
    if kind == "share":
        return translate(Amount(value, ".0%")).replace("-", "\N{MINUS SIGN}")
    return f"{value:,g}".replace("-", "\N{MINUS SIGN}")


def _lines(measure_table: Table, rows: Sequence[Sequence[Any]]) -> LinePlot:
    first, second = measure_table.columns[:2]
    ordered = sorted(rows, key=lambda row: row[0])
    least, most = ordered[0][0], ordered[-1][0]
    low, high = min(0.0, *(row[1] for row in ordered)), max(row[1] for row in ordered)
    high = high if high > low else low + 1.0

    def across(value: float) -> float:
        return float(round(100 * (value - least) / ((most - least) or 1.0), 2))

    def height(value: float) -> float:
        return float(round(BOTTOM - (BOTTOM - TOP) * (value - low) / (high - low), 1))

    points = tuple(
        (across(row[0]), height(row[1]), f"{format_value(row[0], first.kind)}: {format_value(row[1], second.kind)}")
        for row in ordered
    )
    curve = Curve("", points, "people", label_y=points[-1][1])
    x_ticks = tuple((across(tick), _tick(tick, first.kind)) for tick in round_ticks(least, most))
    y_ticks = tuple((height(tick), _tick(tick, second.kind)) for tick in round_ticks(low, high))
    return LinePlot((curve,), x_ticks, y_ticks)
