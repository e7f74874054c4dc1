"""Tables of the report, in Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dynabench.cycle.simulation.plan import ARMS
from dynabench.cycle.simulation.results import MEASURES
from dynabench.cycle.simulation.sentences import LEVEL, points

Result = Mapping[str, Any]
QUALITIES = {
    "fooled": "fooled the target in the loop",
    "tries_per_example": "tries per example",
    "tries_per_fooling": "tries per fooling example",
    "distinct_2": "distinct-2",
    "self_bleu": "self-BLEU",
    "spread": "spread of embeddings",
    "artifact": "baseline above most frequent answer",
}
SHARES = ("fooled", "artifact", "distinct_2")


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose columns but the first are numbers."""
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(value: float) -> str:
    """A share with one digit."""
    return f"{100 * value:.1f} %".replace("-", "\N{MINUS SIGN}")


def contrasts(results: Result) -> str:
    """Every arm against random collection by every measure."""
    rows = [
        [ARMS[row["arm"]], MEASURES[row["measure"]], percent(row["error"]), points(row), _p(row["holm"])]
        for measure in MEASURES
        for row in results["contrasts"]
        if row["measure"] == measure
    ]
    return table(["arm", "error on", "error", "minus random", "p (Holm)"], rows)


def parts(rows: Sequence[Result], kind: str, arms: Sequence[str]) -> str:
    """Phenomena or sources: the error after the last round, of each arm."""
    body = [
        [row[kind], *(percent(row[arm]) for arm in arms), points(row), "yes" if row["holm"] < LEVEL else "no"]
        for row in rows
    ]
    return table([kind, *(ARMS[arm] for arm in arms), "adversarial minus random", "p < 0.05 (Holm)"], body)


def qualities(results: Result) -> str:
    """What was collected, by arm, with the difference from random collection."""
    body, arms = [], results["plan"]["arms"]
    for name, called in QUALITIES.items():
        shown = percent if name in SHARES else "{:.2f}".format
        of_arm = results["qualities"][name]
        body.append([called, *(_quality(of_arm[arm], arm, shown) for arm in arms)])
    return table(["", *(ARMS[arm] for arm in arms)], body)


def shares(held: Result, names: Sequence[str]) -> str:
    """Labels or sources of what was collected, beside those of the pool."""
    rows = [[ARMS.get(arm, arm), *map(percent, values)] for arm, values in held.items()]
    return table(["arm", *names], rows)


def _quality(held: Result, arm: str, shown: Any) -> str:
    value, difference = held["own"]["value"], held["difference"]
    differs = difference["low"] is not None and not difference["low"] <= 0 <= difference["high"]
    return str(shown(value)).replace("-", "\N{MINUS SIGN}") + (" *" if differs and arm != "random" else "")


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
