"""What the figures say, in words. "Beat" and "lost to" are said only where an interval leaves out 0."""

from collections.abc import Mapping, Sequence
from typing import Any

from dynabench.cycle.simulation.plan import ARMS

Row = Mapping[str, Any]
ON = {
    "test_area": "on test rows like the pool, over all rounds",
    "test_last": "on test rows like the pool, after the last round",
    "suite_area": "on the suite of phenomena, over all rounds",
    "suite_last": "on the suite of phenomena, after the last round",
    "first_last": "on examples that fooled the first target (no neutral test)",
    "own_last": "on examples that fooled the adversarial arm's own targets (no neutral test)",
}
NEUTRAL = ("test_area", "test_last", "suite_area", "suite_last")
LEVEL = 0.05


def verdict(row: Row) -> str:
    """`beat`, `lost to` or `cannot be told apart from`: of errors, less is better."""
    if row["low"] is None or row["low"] <= 0 <= row["high"]:
        return "cannot be told apart from"
    return "beat" if row["high"] < 0 else "lost to"


def points(row: Row) -> str:
    """A difference of errors in points, with its interval."""
    if row["low"] is None:
        return f"{_signed(row['value'])} points, no interval with one seed"
    return f"{_signed(row['value'])} points [{_signed(row['low'])}, {_signed(row['high'])}]"


def told(row: Row) -> str:
    """One comparison of an arm with random collection."""
    said = verdict(row)
    holds = ""
    if said != "cannot be told apart from":
        holds = ", also after Holm's correction" if row["holm"] < LEVEL else ", but not after Holm's correction"
    return f"{called(row['arm'])} {said} random collection {ON[row['measure']]}: {points(row)}{holds}."


def called(arm: str) -> str:
    """An arm at the beginning of a sentence."""
    if arm == "fixed":
        return "Adversarial collection without retraining"
    if arm == "uncertain":
        return "Choosing what the model is least sure of"
    return "Half adversarial, half random collection" if arm == "mixed" else f"{ARMS[arm].capitalize()} collection"


def of(results: Mapping[str, Any]) -> list[str]:
    """The findings of a task: the adversarial arm by every measure, then the others on the test rows."""
    rows = results["contrasts"]
    adversarial = [told(row) for row in rows if row["arm"] == "adversarial"]
    others = [told(row) for row in rows if row["arm"] != "adversarial" and row["measure"] == "test_area"]
    return [*adversarial, equal_tries(results), *others]


def plainly(found: Sequence[Mapping[str, Any]]) -> str:
    """Whether adversarial collection beat random collection on tests that no arm's choices made."""
    rows = [
        (results["task"], row)
        for results in found
        for row in results["contrasts"]
        if row["arm"] == "adversarial" and row["measure"] in NEUTRAL
    ]
    told = {}
    for said in ("beat", "lost to"):
        held = [f"{task} {ON[row['measure']]}" for task, row in rows if verdict(row) == said]
        told[said] = f"{said} random collection {len(held)} times of {len(rows)}" + _listed(held)
    return (
        "On tests that no arm's choices made (test rows like the pool, the suite) adversarial collection "
        f"{told['beat']} and {told['lost to']}; the rest cannot be told apart."
    )


def _listed(held: Sequence[str]) -> str:
    return f" ({'; '.join(held)})" if held else ""


def equal_tries(results: Mapping[str, Any]) -> str:
    """The comparison at equal tries in place of equal numbers."""
    row = results["equal_tries"]
    return (
        f"For equal numbers of tries (adversaries have then finished {row['rounds']:.1f} rounds) adversarial "
        f"collection {verdict(row)} random collection on test rows like the pool: {points(row)}."
    )


def of_parts(rows: Sequence[Row], kind: str) -> str:
    """On which phenomena or sources the adversarial arm beat random collection, and on which it lost."""
    parts: list[str] = []
    for said in ("beat", "lost to"):
        held = [row for row in rows if verdict(row) == said]
        names = ", ".join(f"{row[kind]}{'' if row['holm'] < LEVEL else ' (not after Holm)'}" for row in held)
        parts.append(f"{'It' if parts else 'Adversarial collection'} {said} random collection on {names or 'none'}.")
    return f"Of {len(rows)}: {' '.join(parts)}"


def _signed(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "\N{MINUS SIGN}")
