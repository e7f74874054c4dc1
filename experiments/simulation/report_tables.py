"""Tables of the report, in Markdown."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from experiments.simulation.figures import MEASURES
from experiments.simulation.findings import SIGNIFICANCE, format_points
from experiments.simulation.plan import ARMS

QUALITY_NAMES = {
    "fooled": "fooled the target in the loop",
    "tries_per_example": "tries per example",
    "tries_per_fooling": "tries per fooling example",
    "distinct_2": "distinct-2",
    "self_bleu": "self-BLEU",
    "spread": "spread of embeddings",
    "artifact": "baseline above most frequent answer",
}
PERCENT_QUALITIES = ("fooled", "artifact", "distinct_2")


def format_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Format a table whose columns are numbers, except the first."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def format_percent(value: float) -> str:
    """Format a share with one digit after the point."""
    return f"{100 * value:.1f} %".replace("-", "\N{MINUS SIGN}")


def format_contrasts(figures: Mapping[str, Any]) -> str:
    """Format the comparison of every arm with random collection by every measure."""
    rows = [
        [
            ARMS[row["arm"]], MEASURES[row["measure"]], format_percent(row["error"]), format_points(row),
            _format_p(row["holm"]),
        ]
        for measure in MEASURES
        for row in figures["contrasts"]
        if row["measure"] == measure
    ]  # fmt: skip
    return format_table(["arm", "error on", "error", "minus random", "p (Holm)"], rows)


def format_parts(rows: Sequence[Mapping[str, Any]], kind: str, arms: Sequence[str]) -> str:
    """Format the error rate of each arm after the last round, by phenomenon or source."""
    body = [
        [
            row[kind], *(format_percent(row[arm]) for arm in arms), format_points(row),
            "yes" if row["holm"] < SIGNIFICANCE else "no",
        ]
        for row in rows
    ]  # fmt: skip
    header = [kind, *(ARMS[arm] for arm in arms), "adversarial minus random", "p < 0.05 (Holm)"]
    return format_table(header, body)


def format_qualities(figures: Mapping[str, Any]) -> str:
    """Format the qualities of each arm's examples; a star marks a difference from random collection."""
    body, arms = [], figures["plan"]["arms"]
    for quality, title in QUALITY_NAMES.items():
        format_value = format_percent if quality in PERCENT_QUALITIES else "{:.2f}".format
        by_arm = figures["qualities"][quality]
        body.append([title, *(_format_quality(by_arm[arm], arm, format_value) for arm in arms)])
    return format_table(["", *(ARMS[arm] for arm in arms)], body)


def format_shares(shares: Mapping[str, Any], names: Sequence[str]) -> str:
    """Format the shares of labels or sources among the examples of each arm, beside those of the pool."""
    rows = [[ARMS.get(arm, arm), *map(format_percent, values)] for arm, values in shares.items()]
    return format_table(["arm", *names], rows)


def _format_quality(quality: Mapping[str, Any], arm: str, format_value: Callable[[float], str]) -> str:
    value, difference = quality["own"]["value"], quality["difference"]
    differs = difference["low"] is not None and not difference["low"] <= 0 <= difference["high"]
    return format_value(value).replace("-", "\N{MINUS SIGN}") + (" *" if differs and arm != "random" else "")


def _format_p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
