"""Reports as files: a page of HTML that prints well, a PDF, and sections for the card of the data."""

from collections.abc import Iterator
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from dynabench.insight.data_measurements import formatting
from dynabench.insight.data_measurements.results import Figure, MeasureResult, Table
from dynabench.insight.data_reports.measures import COMPARED, MEASURES
from dynabench.insight.data_reports.report import DataReport
from dynabench.kit.language import translate
from dynabench.web.environment import environment

UNPRINTED = ("map", "rows")
"""Tables of points, which are drawn and not listed."""
CARD_ROWS = 10
"""Rows of each table on a card."""
CARD_TABLES = ("columns", "labels", "languages", "splits", "tags", "tests", "shared")
"""Tables that a card has; texts of the data are not among them."""


def sections(report: DataReport) -> Iterator[tuple[str, str, str, MeasureResult]]:
    """Yield name, title, explanation and result of each measure; comparisons come first."""
    for name, result in report.compared.items():
        yield name, translate(COMPARED[name].title), translate(COMPARED[name].about), result
    for name, result in report.results.items():
        yield name, translate(MEASURES[name].title), translate(MEASURES[name].about), result


def report_html(report: DataReport) -> str:
    """Return the report as one page of HTML without scripts, in the current language."""
    style = files("dynabench.insight.data_reports").joinpath("export.css").read_text(encoding="utf-8")
    values: dict[str, Any] = {
        "report": report,
        "sections": list(sections(report)),
        "value": figure_value,
        "interval": figure_interval,
        "cells": formatting.table_lines,
        "unprinted": UNPRINTED,
        "bar": bar_width,
        "css": Markup(style),  # noqa: S704, a file of this package
    }
    return environment().get_template("data_reports/export.html").render(values)


def card_sections(report: DataReport) -> str:
    """Return Markdown for the card of the data: figures and short tables, no texts of the data."""
    lines = ["## Data measurements", "", f"Measured on {report.facts.rows:,} rows, sha256:{report.facts.digest}.", ""]
    for _name, title, _about, result in sections(report):
        lines += [f"### {title}", "", f"{_markdown(translate(result.finding))}.", ""]
        if result.figures:
            lines += ["| figure | value | 95% interval | n |", "|---|---|---|---|"]
            lines += [f"| {' | '.join(map(_markdown, _figure_cells(figure)))} |" for figure in result.figures]
            lines.append("")
        for table in result.tables:
            if table.name in CARD_TABLES:
                lines += [*_markdown_table(table), ""]
    return "\n".join(lines).rstrip() + "\n"


def _figure_cells(figure: Figure) -> list[str]:
    n = "" if figure.n is None else f"{figure.n:,}"
    return [translate(figure.label), figure_value(figure), figure_interval(figure), n]


def _markdown_table(table: Table) -> list[str]:
    lines = [f"| {' | '.join(_markdown(translate(column.label)) for column in table.columns)} |"]
    lines.append("|" + "---|" * len(table.columns))
    lines += [f"| {' | '.join(map(_markdown, cells))} |" for cells in formatting.table_lines(table)[:CARD_ROWS]]
    return lines


def _markdown(text: str) -> str:
    plain = " ".join(translate(text).split())
    return plain.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def figure_value(figure: Figure) -> str:
    """Return the value of a figure in words."""
    return formatting.format_value(figure.value, figure.kind)


def figure_interval(figure: Figure) -> str:
    """Return the interval of a figure in words; empty where it has none."""
    return formatting.format_interval(figure.low, figure.high, figure.kind)


def bar_width(table: Table, row: tuple[Any, ...]) -> float | None:
    """Return the length of a row's bar in percent; None for tables of other values than shares."""
    if (
        len(table.columns) < 2
        or table.columns[1].kind != "share"
        or table.drawn not in ("bars", "intervals")
        or row[1] is None
    ):
        return None
    largest = max((other[1] or 0 for other in table.rows), default=0)
    return float(100 * row[1] / largest) if largest else 0.0
