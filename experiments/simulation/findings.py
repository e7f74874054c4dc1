"""The findings in words. An arm "beat" or "lost to" another only where the interval of the difference excludes 0."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.simulation.plan import ARMS

FigureRow = Mapping[str, Any]
TEST_SETS = {
    "test_area": "on test rows like the pool, over all rounds",
    "test_last": "on test rows like the pool, after the last round",
    "suite_area": "on the suite of phenomena, over all rounds",
    "suite_last": "on the suite of phenomena, after the last round",
    "first_last": "on examples that fooled the first target (no neutral test)",
    "own_last": "on examples that fooled the adversarial arm's own targets (no neutral test)",
}
NEUTRAL_MEASURES = ("test_area", "test_last", "suite_area", "suite_last")
SIGNIFICANCE = 0.05


def describe_outcome(row: FigureRow) -> str:
    """Return `beat`, `lost to` or `cannot be told apart from`; of errors, less is better."""
    if row["low"] is None or row["low"] <= 0 <= row["high"]:
        return "cannot be told apart from"
    return "beat" if row["high"] < 0 else "lost to"


def format_points(row: FigureRow) -> str:
    """Format a difference of error rates in points, with its interval."""
    if row["low"] is None:
        return f"{_format_signed(row['value'])} points, no interval with one seed"
    return f"{_format_signed(row['value'])} points [{_format_signed(row['low'])}, {_format_signed(row['high'])}]"


def describe_contrast(row: FigureRow) -> str:
    """Describe one comparison of an arm with random collection."""
    outcome = describe_outcome(row)
    correction = ""
    if outcome != "cannot be told apart from":
        survives = row["holm"] < SIGNIFICANCE
        correction = ", also after Holm's correction" if survives else ", but not after Holm's correction"
    subject = name_arm_as_subject(row["arm"])
    return f"{subject} {outcome} random collection {TEST_SETS[row['measure']]}: {format_points(row)}{correction}."


def name_arm_as_subject(arm: str) -> str:
    """Name an arm at the beginning of a sentence."""
    if arm == "fixed":
        return "Adversarial collection without retraining"
    if arm == "uncertain":
        return "Uncertainty sampling"
    return "Half adversarial, half random collection" if arm == "mixed" else f"{ARMS[arm].capitalize()} collection"


def list_findings(figures: Mapping[str, Any]) -> list[str]:
    """List the findings of a task: the adversarial arm by every measure, then the others on the test rows."""
    rows = figures["contrasts"]
    adversarial = [describe_contrast(row) for row in rows if row["arm"] == "adversarial"]
    others = [describe_contrast(row) for row in rows if row["arm"] != "adversarial" and row["measure"] == "test_area"]
    return [*adversarial, describe_equal_tries(figures), *others]


def summarize_tasks(all_figures: Sequence[Mapping[str, Any]]) -> str:
    """Summarize how often adversarial collection beat random collection on tests that no arm's choices made."""
    rows = [
        (figures["task"], row)
        for figures in all_figures
        for row in figures["contrasts"]
        if row["arm"] == "adversarial" and row["measure"] in NEUTRAL_MEASURES
    ]
    counts = {}
    for outcome in ("beat", "lost to"):
        tests = [f"{task} {TEST_SETS[row['measure']]}" for task, row in rows if describe_outcome(row) == outcome]
        names = f" ({'; '.join(tests)})" if tests else ""
        counts[outcome] = f"{outcome} random collection {len(tests)} times of {len(rows)}{names}"
    return (
        "On tests that do not depend on an arm's choices (test rows like the pool, the suite) adversarial collection "
        f"{counts['beat']} and {counts['lost to']}; the rest cannot be told apart."
    )


def describe_equal_tries(figures: Mapping[str, Any]) -> str:
    """Describe the comparison at equal numbers of tries, in place of equal numbers of examples."""
    row = figures["equal_tries"]
    return (
        f"For equal numbers of tries (adversaries have then finished {row['rounds']:.1f} rounds) adversarial "
        f"collection {describe_outcome(row)} random collection on test rows like the pool: {format_points(row)}."
    )


def describe_parts(rows: Sequence[FigureRow], kind: str) -> str:
    """Describe on which phenomena or sources the adversarial arm beat random collection, and on which it lost."""
    parts: list[str] = []
    for outcome in ("beat", "lost to"):
        names = ", ".join(
            f"{row[kind]}{'' if row['holm'] < SIGNIFICANCE else ' (not after Holm)'}"
            for row in rows
            if describe_outcome(row) == outcome
        )
        subject = "It" if parts else "Adversarial collection"
        parts.append(f"{subject} {outcome} random collection on {names or 'none'}.")
    return f"Of {len(rows)}: {' '.join(parts)}"


def _format_signed(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "\N{MINUS SIGN}")
