"""The report: what was done, what was found, and what that does not show, written from the figures alone."""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dynabench.cycle.simulation import methods, sentences, tables
from dynabench.cycle.simulation.drawing import Panel, Shades, page
from dynabench.cycle.simulation.plan import ARMS, Plan
from dynabench.cycle.simulation.tables import percent
from dynabench.cycle.simulation.wording import ALL_CANDIDATES, ARM, CANDIDATES, LIMITS, METHOD, NEUTRAL, NUMBERS

Result = Mapping[str, Any]
KEPT = "<!-- kept: what stands below was written by hand -->"
"""Where a page has this line, it and what follows stay when the page is written anew."""
TITLES = {"nli": "Natural language inference", "sentiment": "Sentiment"}


def write(found: Sequence[Result], seconds: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Write the report of some tasks to `path`, and a picture for each beside it.

    `seconds` are the task's figures of time: `seed` (mean), `longest` and `embedding`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for results in found:
        picture = page(
            panels(results), _arms(results), f"{_title(results)}: all arms over {results['plan']['rounds']} rounds"
        )
        (path.parent / f"{path.stem}-{results['task']}.svg").write_text(picture, "utf-8")
    limits = LIMITS.format(model=methods.kind(found[0]["plan"]["method"]).limits)
    parts = [_head(found), _method(found), *(_task(each, path.stem) for each in found), limits, _run(found, seconds)]
    path.write_text("\n\n".join([*parts, *_kept(path)]) + "\n", "utf-8")


def _kept(path: Path) -> list[str]:
    old = path.read_text("utf-8") if path.is_file() else ""
    return [old[old.index(KEPT) :].rstrip()] if KEPT in old else []


def panels(results: Result) -> list[Panel | Shades]:
    """The pictures of a task."""
    errors, qualities = results["errors"], results["qualities"]
    band = results["bands"]["adversarial"]
    sides = ([row["low"] for row in band], [row["high"] for row in band])
    whole = sides[0][0] is not None
    matrix = results["parts"]["matrix"][1:]
    return [
        Panel("Error on test rows like the pool", {arm: each["test"] for arm, each in errors.items()}, 0),
        Panel(
            "Adversarial minus random, test rows, 95 %", {"adversarial": [row["value"] for row in band]},
            bands={"adversarial": sides} if whole else {},
        ),
        Panel("Error on the suite of phenomena", {arm: each["suite"] for arm, each in errors.items()}, 0),
        Panel("Tries that fooled the target", _curves(qualities, "fooled_per_try")),
        Shades(
            f"Models (down) on rounds (across), {_range(matrix)}",
            [[value if at <= row else None for at, value in enumerate(cells)] for row, cells in enumerate(matrix)],
        ),
        Panel("Tries per fooling example", _curves(qualities, "tries_per_fooling"), share=False),
        Panel("Spread of embeddings within a round", _curves(qualities, "spread"), share=False),
        Panel(
            f"{results['material']['fields'][-1].capitalize()} alone: above most frequent",
            _curves(qualities, "artifact"), marks=qualities["marks"],
        ),
    ]  # fmt: skip


def _range(matrix: Sequence[Sequence[float]]) -> str:
    """From the least to the largest error of a model on a round that it was trained after."""
    known = [value for row, cells in enumerate(matrix) for value in cells[: row + 1]]
    return f"{100 * min(known):.0f} to {100 * max(known):.0f} %"


def _curves(qualities: Result, name: str) -> dict[str, Sequence[float]]:
    return {arm: held["curve"] for arm, held in qualities[name].items()}


def _arms(results: Result) -> dict[str, str]:
    return {arm: ARMS[arm] for arm in results["plan"]["arms"]}


def _title(results: Result) -> str:
    task = str(results["task"])
    return TITLES.get(task, task)


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
        chosen = [sentences.told(rows[name]) for name in ("test_area", "suite_area", "first_last") if name in rows]
        lines.append("\n".join([f"**{_title(results)}.**", "", *(f"- {each}" for each in chosen)]))
    return "\n\n".join(lines)


def _method(found: Sequence[Result]) -> str:
    plan = found[0]["plan"]
    freedom = f"{plan['seeds'] - 1} degree{'s' if plan['seeds'] > 2 else ''}"
    drawn = {**plan, "half": plan["each"] // 2, "freedom": freedom}
    told = "\n".join(ARM[arm].format(**drawn) for arm in plan["arms"])
    candidates = CANDIDATES.format(**plan) if plan["candidates"] else ALL_CANDIDATES
    return METHOD.format(**drawn, told=told, model=methods.kind(plan["method"]).told, rest=candidates)


def _task(results: Result, stem: str) -> str:
    title, task = _title(results), results["task"]
    about = f"{title}: errors, tries, diversity and artifacts of {NUMBERS[len(_arms(results))]} arms over rounds"
    return "\n\n".join(
        [
            f"## {title}",
            _material(results),
            f"![{about}]({stem}-{task}.svg)",
            "\n".join(f"- {sentence}" for sentence in sentences.of(results)),
            tables.contrasts(results),
            *([NEUTRAL] if "fixed" in _arms(results) else []),
            f"### Phenomena\n\n{sentences.of_parts(results['phenomena'], 'phenomenon')}",
            tables.parts(results["phenomena"], "phenomenon", list(_arms(results))),
            f"### Where test rows come from\n\n{sentences.of_parts(results['sources'], 'source')}",
            tables.parts(results["sources"], "source", list(_arms(results))),
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
    options = f"--data DATA --folder FOLDER {' '.join(_options(plan))}"
    command = f"dynabench cycle simulate {tasks} {options} --report docs/explanation/simulation.md"
    lines = [f"- {task}: {_took(plan, held)}" for task, held in seconds.items()]
    return "\n\n".join(
        [
            "## Command, machine, time",
            f"```sh\n{command}\n```",
            "DATA holds the data sets in the folders that `cycle/simulation/pools` names. Run again, the command goes "
            "on at the round that was cut off, with the same outcome.",
            f"{os.cpu_count()} cores of {_processor()}, {platform.system()}, shared with other work; "
            f"{methods.kind(plan['method']).ran}.",
            "\n".join(lines),
        ]
    )


def _options(plan: Result) -> Iterator[str]:
    """Those that differ from the defaults, and rounds and seeds."""
    usual = asdict(Plan(plan["task"]))
    for name, value in plan.items():
        if name in ("rounds", "seeds") or (name != "task" and _list(value) != _list(usual[name])):
            yield f"--{name.replace('_', '-')} {_list(value)}"


def _list(value: Any) -> str:
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def _took(plan: Result, held: Mapping[str, float]) -> str:
    rounds = f"{len(plan['arms'])} arms, {plan['rounds']} rounds and one seed"
    took = f"{rounds} took {held['seed'] / 60:.1f} minutes in the mean, {held['longest'] / 60:.1f} at most"
    return took + (f"; embedding all texts, once, {held['embedding'] / 60:.1f}." if held["embedding"] else ".")


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
