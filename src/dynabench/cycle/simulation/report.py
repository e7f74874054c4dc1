"""The report: what was done, what was found, and what that does not show, written from the figures alone."""

import os
import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dynabench.cycle.simulation import sentences, tables
from dynabench.cycle.simulation.drawing import Panel, Shades, page
from dynabench.cycle.simulation.plan import ARMS
from dynabench.cycle.simulation.tables import percent
from dynabench.cycle.simulation.wording import LIMITS, METHOD, NEUTRAL

Result = Mapping[str, Any]
TITLES = {"nli": "Natural language inference", "sentiment": "Sentiment"}


def write(found: Sequence[Result], seconds: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Write the report of some tasks to `path`, and a picture for each beside it.

    `seconds` are the task's figures of time: `seed` (mean), `longest` and `embedding`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for results in found:
        picture = page(panels(results), ARMS, f"{_title(results)}: all arms over {results['plan']['rounds']} rounds")
        (path.parent / f"{path.stem}-{results['task']}.svg").write_text(picture, "utf-8")
    parts = [_head(found), _method(found), *(_task(each, path.stem) for each in found), LIMITS, _run(found, seconds)]
    path.write_text("\n\n".join(parts) + "\n", "utf-8")


def panels(results: Result) -> list[Panel | Shades]:
    """The pictures of a task."""
    errors, qualities = results["errors"], results["qualities"]
    band = results["bands"]["adversarial"]
    sides = ([row["low"] for row in band], [row["high"] for row in band])
    whole = sides[0][0] is not None
    matrix = results["parts"]["matrix"][1:]
    return [
        Panel("Error on test rows like the pool", {arm: errors[arm]["test"] for arm in ARMS}, 0),
        Panel(
            "Adversarial minus random, test rows, 95 %", {"adversarial": [row["value"] for row in band]},
            bands={"adversarial": sides} if whole else {},
        ),
        Panel("Error on the suite of phenomena", {arm: errors[arm]["suite"] for arm in ARMS}, 0),
        Panel("Tries that fooled the target", _curves(qualities, "fooled_per_try")),
        Shades(
            f"Models (down) on rounds (across), {_range(matrix)}",
            [[value if at <= row else None for at, value in enumerate(cells)] for row, cells in enumerate(matrix)],
        ),
        Panel("Tries per fooling example", _curves(qualities, "tries_per_fooling"), share=False),
        Panel("Spread of embeddings within a round", _curves(qualities, "spread"), share=False),
        Panel(
            f"{results['material']['fields'][-1].capitalize()} alone: above most frequent", _curves(qualities, "artifact"),
            marks=qualities["marks"],
        ),
    ]  # fmt: skip


def _range(matrix: Sequence[Sequence[float]]) -> str:
    """From the least to the largest error of a model on a round that it was trained after."""
    known = [value for row, cells in enumerate(matrix) for value in cells[: row + 1]]
    return f"{100 * min(known):.0f} to {100 * max(known):.0f} %"


def _curves(qualities: Result, name: str) -> dict[str, Sequence[float]]:
    return {arm: qualities[name][arm]["curve"] for arm in ARMS}


def _title(results: Result) -> str:
    return TITLES.get(results["task"], results["task"])


def _head(found: Sequence[Result]) -> str:
    lines = [
        "# Many rounds without people",
        "Does adversarial collection make better training data than random collection, for equal numbers of examples? "
        "`dynabench cycle simulate` plays the cycle many times without people, beside arms that collect otherwise. "
        "This page was written by that command from its figures.",
        "## In short",
        sentences.plainly(found),
    ]
    for results in found:
        rows = {row["measure"]: row for row in results["contrasts"] if row["arm"] == "adversarial"}
        chosen = [sentences.told(rows[name]) for name in ("test_area", "suite_area", "first_last")]
        lines.append("\n".join([f"**{_title(results)}.**", "", *(f"- {each}" for each in chosen)]))
    return "\n\n".join(lines)


def _method(found: Sequence[Result]) -> str:
    plan = found[0]["plan"]
    return METHOD.format(**plan, half=plan["each"] // 2, freedom=plan["seeds"] - 1)


def _task(results: Result, stem: str) -> str:
    title, task = _title(results), results["task"]
    about = f"{title}: errors, tries, diversity and artifacts of five arms over rounds"
    return "\n\n".join(
        [
            f"## {title}",
            _material(results),
            f"![{about}]({stem}-{task}.svg)",
            "\n".join(f"- {sentence}" for sentence in sentences.of(results)),
            tables.contrasts(results),
            NEUTRAL,
            f"### Phenomena\n\n{sentences.of_parts(results['phenomena'], 'phenomenon')}",
            tables.parts(results["phenomena"], "phenomenon"),
            f"### Where test rows come from\n\n{sentences.of_parts(results['sources'], 'source')}",
            tables.parts(results["sources"], "source"),
            _earlier(results["parts"]),
            _collected(results),
            tables.qualities(results),
            tables.shares(results["labels"], results["material"]["labels"]),
            tables.shares(results["drawn_from"], list(results["material"]["sources"])),
        ]
    )


def _material(results: Result) -> str:
    held, start = results["material"], results["start"]
    sources = ", ".join(f"{name} {count:,}" for name, count in held["sources"].items())
    return (
        f"{held['rows']:,} rows ({sources}): {held['test']:,} for tests, {held['later']:,} for rounds' test parts, "
        f"{held['candidates']:,} candidates. The suite `{held['suite']}` has {held['items']} items of "
        f"{held['phenomena']} phenomena; the most similar pair of an item and a row shares {percent(held['nearest'])} "
        f"of its groups of four characters. The first target errs on {percent(start['test'])} of the test rows "
        f"(always the most frequent answer: {percent(1 - held['majority'])}) and on {percent(start['suite'])} of the "
        "suite."
    )


def _earlier(parts: Result) -> str:
    return (
        "### Later models on earlier rounds\n\nOn the adversarial arm's test parts, the target of a round errs on "
        f"{_level(parts['before'])}, the model trained after it on {_level(parts['after'])}, the last model on "
        f"{_level(parts['last'])}."
    )


def _collected(results: Result) -> str:
    filled = sum(results["qualities"]["filled"].values())
    ended = f"{filled:.1f} examples for each seed were handed in unfooled, because the pool had ended."
    return (
        "### What was collected\n\nMeans over rounds; a star marks a difference from random collection whose interval "
        f"leaves out 0. The last line is naive Bayes over the words of the {results['material']['fields'][-1]} alone, "
        f"on all that was collected. {ended if filled else 'No pool ended before enough examples were found.'}"
    )


def _level(row: Result) -> str:
    if row["low"] is None:
        return percent(row["value"])
    return f"{percent(row['value'])} [{percent(row['low'])}, {percent(row['high'])}]"


def _run(found: Sequence[Result], seconds: Mapping[str, Mapping[str, float]]) -> str:
    plan = found[0]["plan"]
    tasks = " ".join(results["task"] for results in found)
    options = f"--data DATA --folder FOLDER --rounds {plan['rounds']} --seeds {plan['seeds']}"
    command = f"dynabench cycle simulate {tasks} {options} --report docs/explanation/simulation.md"
    lines = [f"- {task}: {_took(plan, held)}" for task, held in seconds.items()]
    return "\n\n".join(
        [
            "## Command, machine, time",
            f"```sh\n{command}\n```",
            "DATA holds the data sets in the folders that `cycle/simulation/pools` names. Run again, the command goes "
            "on at the round that was cut off, with the same outcome.",
            f"{os.cpu_count()} cores of {_processor()}, {platform.system()}, shared with other work; heads on one "
            "thread.",
            "\n".join(lines),
        ]
    )


def _took(plan: Result, held: Mapping[str, float]) -> str:
    rounds = f"{len(ARMS)} arms, {plan['rounds']} rounds and one seed"
    took = f"{rounds} took {held['seed'] / 60:.1f} minutes in the mean, {held['longest'] / 60:.1f} at most"
    return took + (f"; embedding all texts, once, {held['embedding'] / 60:.1f}." if held["embedding"] else ".")


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
