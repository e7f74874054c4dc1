"""Formats of measured values: on pages, in tables of the command line, for programs."""

from collections.abc import Sequence
from typing import Any

from dynabench.insight.data_measurements.measures import measures
from dynabench.insight.data_measurements.results import Figure, Kind
from dynabench.insight.data_measurements.service import RoundMeasurements
from dynabench.kit.language import Amount, _, joined, said

FEW = 10  # from here on numbers are written with one place after the point


def format_value(value: Any, kind: Kind = "number") -> str:
    """Return a value in the form of its kind, for people: negative numbers have a minus sign, not a hyphen."""
    if value is None:
        return "–"
    if kind == "text":
        return value if isinstance(value, str) else str(value)
    if kind == "share":
        text = said(Amount(value, ".1%"))
    elif kind == "count":
        text = said(Amount(round(value)))
    elif kind == "p":
        text = said(Amount(max(value, 0.01), ".2f") if value >= 0.01 else "< " + Amount(0.01, ".2f"))
    else:
        text = said(Amount(value, ",.1f" if abs(value) >= FEW else ".2f"))
    return text.replace("-", "\N{MINUS SIGN}")


def format_interval(low: float | None, high: float | None, kind: Kind = "number") -> str:
    """Return an interval; empty where there is none."""
    return (
        ""
        if low is None or high is None
        else said(_("%(low)s to %(high)s", low=format_value(low, kind), high=format_value(high, kind)))
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
                "title": measures()[name].TITLE,
                "about": measures()[name].ABOUT,
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
            lines.append((joined(": ", (measures()[key[0]].TITLE, defined[0].label)), figures))
    return lines
