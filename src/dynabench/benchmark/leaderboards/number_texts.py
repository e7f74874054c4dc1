"""Numbers of boards as people read them."""

from dynabench.benchmark.evaluations.measures import Measure
from dynabench.benchmark.standings import ScoreCell
from dynabench.kit.language import _, said
from dynabench.web.filters import NONE, number

MINUS = "\N{MINUS SIGN}"


def score_text(value: float | None, metric: Measure, sign: bool = False) -> str:
    """`81.2%`, `34.5`, `1.25`: a score in its metric's unit; `sign` is for differences."""
    if value is None or value != value:
        return NONE
    scaled = value * metric.scale
    digits = 1 if metric.scale == 100 or abs(scaled) >= 10 else 3 if abs(scaled) < 1 else 2
    scaled = round(scaled, digits) + 0.0  # no negative nought
    before = MINUS if scaled < 0 else "+" if sign else ""
    percent = "%" if metric.unit == "%" and not sign else ""
    return before + number(abs(scaled), digits) + percent


def interval_text(low: float | None, high: float | None, metric: Measure, sign: bool = False) -> str:
    """`79.0–83.1`: an interval; empty where none is known, or nothing varied."""
    if low is None or high is None or (low == high and metric.cost):
        return ""
    ends = {"low": score_text(low, metric, sign), "high": score_text(high, metric, sign)}
    between = said(_("%(low)s to %(high)s", **ends)) if sign else f"{ends['low']}–{ends['high']}"
    return between.replace("%", "")


def cell_text(of: ScoreCell | None, metric: Measure) -> str:
    """A score with its interval."""
    if of is None:
        return NONE
    between = interval_text(of.low, of.high, metric)
    return f"{score_text(of.value, metric)} ({between})" if between else score_text(of.value, metric)


def axis_title(metric: Measure) -> str:
    """A measure's name with its unit, and which way is better where that is less."""
    unit = f" ({metric.unit})" if metric.unit else ""
    name = f"{said(metric.title)}{unit}"
    return said(_("%(name)s, less is better", name=name)) if metric.better == "lower" else name


def p_value_text(p: float | None) -> str:
    """A p value: `0.03`, `< 0.001`."""
    if p is None:
        return NONE
    return "< 0.001" if p < 0.001 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
