"""`dynabench adversary`: programs that change texts and attack models; of use without the platform."""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dynabench.cli import adversary_programs
from dynabench.cli.operator import AsJson, refuse, say

if TYPE_CHECKING:
    from dynabench.adversaries.attacks import AttackSummary

app = typer.Typer(help="Perturb texts, write suites of tests, attack models, propose examples.", no_args_is_help=True)
app.add_typer(adversary_programs.app)


@app.callback()
def adversary() -> None:
    """Perturb texts, write suites of tests, attack models, propose examples."""


@app.command("list")
def list_transformations(
    axis: Annotated[str, typer.Option(help="Only fairness or robustness.")] = "", as_json: AsJson = False
) -> None:
    """List all transformations, including those of installed packages."""
    from dynabench.adversaries.perturbations import transformations

    chosen = [item for item in transformations().values() if axis in ("", item.axis)]
    if as_json:
        say(True, {"transformations": [{"name": o.name, "axis": o.axis, "title": o.title} for o in chosen]}, "")
        return
    table = Table("name", "axis", "what it does")
    for transformation in chosen:
        table.add_row(transformation.name, transformation.axis, transformation.title)
    Console().print(table)


@app.command()
def perturb(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL: an object with texts per line.")],
    with_: Annotated[list[str], typer.Option("--with", help="A transformation's name, or an axis; repeatable.")],
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    field: Annotated[list[str] | None, typer.Option(help="Change only this field; repeatable.")] = None,
    out: Annotated[Path | None, typer.Option(help="Output file instead of the terminal.")] = None,
) -> None:
    """Write perturbed copies of FILE's rows as JSONL, each with its own `uid` and its original's as `input_id`.

    Changes every text of a row except uid, id, label and answer, or only the fields named by --field. A row without
    `uid` is identified by its line.
    """
    from dynabench.adversaries import attacks

    with ExitStack() as stack:
        target = stack.enter_context(out.open("w", encoding="utf-8")) if out else sys.stdout
        copies = 0
        for line in attacks.perturb_rows(file, with_, seed, field or ()):
            target.write(line + "\n")
            copies += 1
    typer.echo(f"{copies} copies.", err=True)


@app.command()
def attack(
    model: Annotated[str, typer.Option(help="A model's name, or its folder.")],
    data: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="JSONL: the model's inputs and the label.")],
    with_: Annotated[str, typer.Option("--with", help="An adversary: substitution, typos, perturb, ...")],
    queries: Annotated[int, typer.Option(min=1, help="Maximum queries per input.")] = 200,
    seconds: Annotated[float | None, typer.Option(min=0, help="Maximum seconds per input.")] = None,
    most: Annotated[int | None, typer.Option("--n", min=1, help="Stop after this number of correct inputs.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="An input field that must not change; repeatable.")] = None,
    option: Annotated[
        list[str] | None, typer.Option(help="An option of the adversary as NAME=VALUE; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Output file for the candidates, as JSONL.")] = None,
    as_json: AsJson = False,
) -> None:
    """Let an adversary change inputs that a local model answers correctly, until the model makes an error.

    Prints how many inputs fooled the model, the number of queries, and the similarity to the originals.
    """
    from itertools import islice

    from rich.progress import track

    from dynabench.adversaries import attacks, protocol
    from dynabench.adversaries.protocol import Budget
    from dynabench.kit.errors import Problem
    from dynabench.models import catalog

    budget = Budget(queries=queries, seconds=seconds)
    try:
        folder = Path(model) if Path(model).is_dir() else catalog.entry(model).folder
        opened = catalog.open_model(folder)
        contexts = list(attacks.read_contexts(data, opened.card, keep or ()))
        adversary = protocol.create_adversary(with_, **_options(option or ()))
        attempt_stream = attacks.run_attempts(adversary, attacks.LocalTarget(opened), contexts, budget, most)
        with ExitStack() as stack:
            file = stack.enter_context(out.open("w", encoding="utf-8")) if out else None
            attempts = list[attacks.Attempt]()
            total = min(len(contexts), most or len(contexts))
            for attempt in track(
                islice(attempt_stream, total), "Attacking", total, console=Console(stderr=True), disable=as_json
            ):
                attempts.append(attempt)
                for candidate in attempt.candidates:
                    if file is None:
                        break
                    file.write(json.dumps(attacks.candidate_row(candidate), ensure_ascii=False) + "\n")
    except Problem as problem:
        refuse(f"{problem.title}: {problem.detail}")
    summary = attacks.summarise_attempts(attempts)
    if as_json:
        say(True, {"model": f"{opened.card.name}@{opened.card.version}", "adversary": with_, **_figures(summary)}, "")
        return
    table = Table(title=f"{with_} against {opened.card.name}", show_header=False)
    for label, value in _summary_rows(summary):
        table.add_row(label, value)
    Console().print(table)


@app.command("suite")
def write_suite(
    name: Annotated[str, typer.Argument(help="`list`, a suite's name, or the path of a YAML file.")],
    out: Annotated[Path | None, typer.Option(help="Output file instead of the terminal.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the tests of suite NAME as JSONL rows, as `dynabench dataset add` takes them; or list the suites."""
    from dynabench.adversaries import checklist
    from dynabench.datasets import conversions

    if name == "list":
        suites = [(suite_name, checklist.load_suite(suite_name)) for suite_name in checklist.shipped_suites()]
        rows_of_suites = [
            {"name": n, "task": s.task, "title": s.title, "phenomena": len(s.phenomena)} for n, s in suites
        ]
        say(as_json, {"suites": rows_of_suites}, "\n".join(f"{n}  {s.task}  {s.title}" for n, s in suites))
        return
    rows = [json.dumps(row, ensure_ascii=False) for row in conversions.suite_lines(checklist.load_suite(name))]
    with ExitStack() as stack:
        target = stack.enter_context(out.open("w", encoding="utf-8")) if out else sys.stdout
        target.writelines(row + "\n" for row in rows)
    typer.echo(f"{len(rows)} tests.", err=True)


def _options(texts: Sequence[str]) -> dict[str, Any]:
    """Return `name=value` texts by name; values are JSON where they can be read as such, else text."""
    from dynabench.kit.errors import Invalid

    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise Invalid({"option": f"{text!r} is no name=value."})
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def _figures(summary: "AttackSummary") -> dict[str, Any]:
    rate = summary.fooled
    return {
        "correct": summary.correct,
        "fooled": {"value": rate.value, "low": rate.low, "high": rate.high, "n": rate.n},
        "queries": {"median": summary.queries_median, "mean": summary.queries_mean},
        "queries_fooled_median": summary.queries_fooled_median,
        "similarity": summary.similarity,
        "changed": summary.changed,
        "seconds": round(summary.seconds, 2),
    }


def _summary_rows(summary: "AttackSummary") -> list[tuple[str, str]]:
    rate = summary.fooled
    fooled = "" if rate.value is None else f"{rate.value:.1%} ({rate.low:.1%} to {rate.high:.1%})"
    return [
        ("inputs answered correctly", str(summary.correct)),
        ("of these fooled (95 % Wilson)", fooled),
        ("queries, median", _number(summary.queries_median)),
        ("queries, mean", _number(summary.queries_mean)),
        ("queries of successes, median", _number(summary.queries_fooled_median)),
        ("similarity of successes, mean", _number(summary.similarity)),
        ("words changed of successes, mean", "" if summary.changed is None else f"{summary.changed:.1%}"),
        ("seconds", f"{summary.seconds:.1f}"),
    ]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
