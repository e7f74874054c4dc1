"""The report: method, findings and limitations, written from the figures alone."""

import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from experiments.simulation import findings, report_tables, training_methods
from experiments.simulation.charts import HeatMap, LineChart, draw_charts
from experiments.simulation.plan import ARMS, ExperimentPlan
from experiments.simulation.report_tables import format_percent
from experiments.simulation.report_text import (
    ALL_CANDIDATES,
    ARM_DESCRIPTIONS,
    CANDIDATES,
    LIMITATIONS,
    METHOD,
    NEUTRALITY,
    NUMBER_WORDS,
)

TaskFigures = Mapping[str, Any]
HANDWRITTEN_MARK = "<!-- kept: what stands below was written by hand -->"
"""A line of the page; it and all that follows stay when the page is written anew."""
TITLES = {"nli": "Natural language inference", "sentiment": "Sentiment"}


def write(all_figures: Sequence[TaskFigures], seconds: Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Write the report of some tasks to `path`, and a picture for each task beside it.

    `seconds` has the times of each task: `seed` (mean), `longest` and `embedding`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    for figures in all_figures:
        description = f"{_title(figures)}: all arms over {figures['plan']['rounds']} rounds"
        picture = draw_charts(list_charts(figures), _arm_names(figures), description)
        (path.parent / f"{path.stem}-{figures['task']}.svg").write_text(picture, "utf-8")
    limits = training_methods.find_method(all_figures[0]["plan"]["method"]).limits
    parts = [
        _write_summary(all_figures),
        _write_method(all_figures),
        *(_write_task(figures, path.stem) for figures in all_figures),
        LIMITATIONS.format(model=limits),
        _write_execution(all_figures, seconds),
    ]
    path.write_text("\n\n".join([*parts, *read_handwritten_part(path)]) + "\n", "utf-8")


def read_handwritten_part(path: Path) -> list[str]:
    """Return the part of an earlier report that was written by hand, or nothing."""
    text = path.read_text("utf-8") if path.is_file() else ""
    return [text[text.index(HANDWRITTEN_MARK) :].rstrip()] if HANDWRITTEN_MARK in text else []


def list_charts(figures: TaskFigures) -> list[LineChart | HeatMap]:
    """List the charts of a task."""
    errors, qualities = figures["errors"], figures["qualities"]
    differences = figures["bands"]["adversarial"]
    band = ([row["low"] for row in differences], [row["high"] for row in differences])
    has_intervals = band[0][0] is not None
    matrix = figures["parts"]["matrix"][1:]
    return [
        LineChart(
            "Error on test rows like the pool", {arm: by_test["test"] for arm, by_test in errors.items()}, 0
        ),
        LineChart(
            "Adversarial minus random, test rows, 95 %", {"adversarial": [row["value"] for row in differences]},
            bands={"adversarial": band} if has_intervals else {},
        ),
        LineChart("Error on the suite of phenomena", {arm: by_test["suite"] for arm, by_test in errors.items()}, 0),
        LineChart("Tries that fooled the target", _curves(qualities, "fooled_per_try")),
        HeatMap(
            f"Models (down) on rounds (across), {_describe_range(matrix)}",
            [
                [value if column <= row else None for column, value in enumerate(cells)]
                for row, cells in enumerate(matrix)
            ],
        ),
        LineChart("Tries per fooling example", _curves(qualities, "tries_per_fooling"), share=False),
        LineChart("Spread of embeddings within a round", _curves(qualities, "spread"), share=False),
        LineChart(
            f"{figures['material']['fields'][-1].capitalize()} alone: above most frequent",
            _curves(qualities, "artifact"), marks=qualities["marks"],
        ),
    ]  # fmt: skip


def _describe_range(matrix: Sequence[Sequence[float]]) -> str:
    """Describe the smallest and the largest error of a model on rounds that it was trained after."""
    values = [value for row, cells in enumerate(matrix) for value in cells[: row + 1]]
    return f"{100 * min(values):.0f} to {100 * max(values):.0f} %"


def _curves(qualities: TaskFigures, name: str) -> dict[str, Sequence[float]]:
    return {arm: quality["curve"] for arm, quality in qualities[name].items()}


def _arm_names(figures: TaskFigures) -> dict[str, str]:
    return {arm: ARMS[arm] for arm in figures["plan"]["arms"]}


def _title(figures: TaskFigures) -> str:
    task = str(figures["task"])
    return TITLES.get(task, task)


def _write_summary(all_figures: Sequence[TaskFigures]) -> str:
    sections = [
        "# Many rounds without people",
        "Does adversarial collection give better training data than random collection, for equal numbers of examples? "
        "`python -m experiments.simulation` in a checkout simulates many rounds without people and compares ways to "
        "collect examples, called arms. The command generated this page from its figures.",
        "## Summary",
        findings.summarize_tasks(all_figures),
    ]
    for figures in all_figures:
        rows = {row["measure"]: row for row in figures["contrasts"] if row["arm"] == "adversarial"}
        measures = [name for name in ("test_area", "suite_area", "first_last") if name in rows]
        sentences = [f"- {findings.describe_contrast(rows[name])}" for name in measures]
        sections.append("\n".join([f"**{_title(figures)}.**", "", *sentences]))
    return "\n\n".join(sections)


def _write_method(all_figures: Sequence[TaskFigures]) -> str:
    plan = all_figures[0]["plan"]
    freedom = f"{plan['seeds'] - 1} degree{'s' if plan['seeds'] > 2 else ''}"
    values = {**plan, "half": plan["each"] // 2, "freedom": freedom}
    return METHOD.format(
        **values,
        arm_descriptions="\n".join(ARM_DESCRIPTIONS[arm].format(**values) for arm in plan["arms"]),
        model=training_methods.find_method(plan["method"]).description,
        rest=CANDIDATES.format(**plan) if plan["candidates"] else ALL_CANDIDATES,
    )


def _write_task(figures: TaskFigures, stem: str) -> str:
    title, task, arms = _title(figures), figures["task"], list(_arm_names(figures))
    description = f"{title}: errors, tries, diversity and artifacts of {NUMBER_WORDS[len(arms)]} arms over rounds"
    return "\n\n".join(
        [
            f"## {title}",
            _describe_data(figures),
            f"![{description}]({stem}-{task}.svg)",
            "\n".join(f"- {sentence}" for sentence in findings.list_findings(figures)),
            report_tables.format_contrasts(figures),
            *([NEUTRALITY] if "fixed" in arms else []),
            f"### Phenomena\n\n{findings.describe_parts(figures['phenomena'], 'phenomenon')}",
            report_tables.format_parts(figures["phenomena"], "phenomenon", arms),
            f"### Sources of test rows\n\n{findings.describe_parts(figures['sources'], 'source')}",
            report_tables.format_parts(figures["sources"], "source", arms),
            _describe_earlier_rounds(figures["parts"]),
            _describe_collection(figures),
            report_tables.format_qualities(figures),
            report_tables.format_shares(figures["labels"], figures["material"]["labels"]),
            report_tables.format_shares(figures["drawn_from"], list(figures["material"]["sources"])),
        ]
    )


def _describe_data(figures: TaskFigures) -> str:
    data, start = figures["material"], figures["start"]
    sources = ", ".join(f"{name} {count:,}" for name, count in data["sources"].items())
    return (
        f"{data['rows']:,} rows ({sources}): {data['test']:,} for tests, {data['later']:,} for rounds' test parts, "
        f"{data['candidates']:,} candidates. The suite `{data['suite']}` has {data['items']} items of "
        f"{data['phenomena']} phenomena; the most similar pair of an item and a row shares "
        f"{format_percent(data['nearest'])} of its groups of four characters. The first target errs on "
        f"{format_percent(start['test'])} of the test rows (always giving the most frequent answer: "
        f"{format_percent(1 - data['majority'])}) and on {format_percent(start['suite'])} of the suite."
    )


def _describe_earlier_rounds(parts: TaskFigures) -> str:
    return (
        "### Later models on earlier rounds\n\nOn the adversarial arm's test parts, the target of a round errs on "
        f"{_format_level(parts['before'])}, the model trained after it on {_format_level(parts['after'])}, the last "
        f"model on {_format_level(parts['last'])}."
    )


def _describe_collection(figures: TaskFigures) -> str:
    unfooled = sum(figures["qualities"]["filled"].values())
    shortage = f"{unfooled:.1f} examples per seed did not fool the target, because the pool was exhausted."
    return (
        "### What was collected\n\nMeans over rounds; a star marks a difference from random collection whose interval "
        f"excludes 0. The last row is naive Bayes over the words of the {figures['material']['fields'][-1]} alone, "
        "on everything collected. "
        f"{shortage if unfooled else 'Every pool had enough examples.'}"
    )


def _format_level(row: TaskFigures) -> str:
    if row["low"] is None:
        return format_percent(row["value"])
    return f"{format_percent(row['value'])} [{format_percent(row['low'])}, {format_percent(row['high'])}]"


def _write_execution(all_figures: Sequence[TaskFigures], seconds: Mapping[str, Mapping[str, float]]) -> str:
    plan = all_figures[0]["plan"]
    tasks = " ".join(figures["task"] for figures in all_figures)
    options = f"--data DATA --folder FOLDER {' '.join(_list_options(plan))}"
    command = f"python -m experiments.simulation {tasks} {options} --report docs/explanation/simulation.md"
    return "\n\n".join(
        [
            "## Command, machine, time",
            f"```sh\n{command}\n```",
            "DATA holds the data sets in the folders that `experiments/simulation/pools` names. Repeat the "
            "command to continue an interrupted run at its last round, with the same result.",
            f"{os.cpu_count()} cores of {_processor_name()}, {platform.system()}, shared with other work; "
            f"{training_methods.find_method(plan['method']).execution}.",
            "\n".join(f"- {task}: {_describe_times(plan, times)}" for task, times in seconds.items()),
        ]
    )


def _list_options(plan: TaskFigures) -> Iterator[str]:
    """List the options that differ from the defaults, and rounds and seeds."""
    defaults = ExperimentPlan(plan["task"]).as_options()
    for name, value in plan.items():
        text = _format_option(value)
        if name in ("rounds", "seeds") or (name != "task" and text != _format_option(defaults[name])):
            yield f"--{name.replace('_', '-')} {text}"


def _format_option(value: Any) -> str:
    return ",".join(value) if isinstance(value, list | tuple) else str(value)


def _describe_times(plan: TaskFigures, times: Mapping[str, float]) -> str:
    rounds = f"{len(plan['arms'])} arms, {plan['rounds']} rounds and one seed"
    sentence = f"{rounds} took {times['seed'] / 60:.1f} minutes on average, {times['longest'] / 60:.1f} at most"
    return sentence + (f"; embedding all texts, once, {times['embedding'] / 60:.1f}." if times["embedding"] else ".")


def _processor_name() -> str:
    try:
        with Path("/proc/cpuinfo").open() as lines:
            return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
