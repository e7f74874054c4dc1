"""How values of measures are written: on pages, in tables of the command line, for programs."""

from collections.abc import Sequence
from typing import Any

from dynabench.language import Amount, _, joined, said
from dynabench.measuring.found import Figure, Kind
from dynabench.measuring.measures import measures
from dynabench.measuring.service import Shown

FEW = 10  # from here on numbers are written with one place after the point


def value(of: Any, kind: Kind = "number") -> str:
    """A value in the words of its kind."""
    if of is None:
        return "–"
    if kind == "text":
        return of if isinstance(of, str) else str(of)
    if kind == "share":
        return said(Amount(of, ".1%")).replace("-", "\N{MINUS SIGN}")
    if kind == "count":
        return said(Amount(round(of)))
    if kind == "p":
        return said(Amount(max(of, 0.01), ".2f") if of >= 0.01 else "< " + Amount(0.01, ".2f"))
    return said(Amount(of, ",.1f")) if abs(of) >= FEW else said(Amount(of, ".2f")).replace("-", "\N{MINUS SIGN}")


def between(low: float | None, high: float | None, kind: Kind = "number") -> str:
    """An interval; empty where there is none."""
    return (
        ""
        if low is None or high is None
        else said(_("%(low)s to %(high)s", low=value(low, kind), high=value(high, kind)))
    )


def document(of: Shown) -> dict[str, Any]:
    """What is shown of a round, for programs."""
    return {
        "round": of.round,
        "examples": of.examples,
        "total": of.total,
        "measured_at": of.at,
        "outdated": of.old,
        "measuring": of.going,
        "kept_back": list(of.kept_back),
        "measures": [
            {"name": name, "title": measures()[name].TITLE, "about": measures()[name].ABOUT, **_found(found.document())}
            for name, found in of.found.items()
        ],
    }


def _found(document: dict[str, Any]) -> dict[str, Any]:
    return {
        **document,
        "tables": [{k: v for k, v in each.items() if k not in ("drawn", "line")} for each in document["tables"]],
    }


def across(shown: Sequence[Shown]) -> list[tuple[str, list[Figure | None]]]:
    """Figures that rounds can be compared by: those with a value in two rounds or more, one line each."""
    by_round = [{(name, figure.name): figure for name, found in each.found.items() for figure in found.figures}
                for each in shown]  # fmt: skip
    keys = dict.fromkeys(key for some in by_round for key in some)
    lines = []
    for key in keys:
        held = [some.get(key) for some in by_round]
        known = [each for each in held if each is not None and each.value is not None]
        if len(known) > 1:
            lines.append((joined(": ", (measures()[key[0]].TITLE, known[0].label)), held))
    return lines
