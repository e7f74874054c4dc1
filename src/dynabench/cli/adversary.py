"""`dynabench adversary`: programs that change texts and attack models; of use without the platform."""

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dynabench.cli import mining, proposing, synthesizing
from dynabench.cli.operator import AsJson, say

app = typer.Typer(help="Perturb texts, write suites of tests, attack models, propose examples.", no_args_is_help=True)


@app.callback()
def adversary() -> None:
    """Perturb texts, write suites of tests, attack models, propose examples."""


@app.command("list")
def list_transformations(
    axis: Annotated[str, typer.Option(help="Only of fairness, or of robustness.")] = "", as_json: AsJson = False
) -> None:
    """Every transformation, those of installed packages too."""
    from dynabench.adversaries.perturbations import transformations

    found = [one for one in transformations().values() if axis in ("", one.axis)]
    if as_json:
        say(True, {"transformations": [{"name": o.name, "axis": o.axis, "title": o.title} for o in found]}, "")
        return
    table = Table("name", "axis", "what it does")
    for one in found:
        table.add_row(one.name, one.axis, one.title)
    Console().print(table)


@app.command()
def perturb(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL: an object with texts on a line.")],
    with_: Annotated[list[str], typer.Option("--with", help="A transformation's name, or an axis. Again for more.")],
    seed: Annotated[int, typer.Option(min=0, help="Another number draws other places and names.")] = 0,
    field: Annotated[list[str] | None, typer.Option(help="Change this field alone. Again for more.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write here instead of to the terminal.")] = None,
) -> None:
    """Write perturbed copies of FILE's rows as JSONL: each with a `uid` of its own, its original's as `input_id`.

    Changes every text of a row but uid, id, label and answer, or the ones that --field names. A row without `uid` is
    called by its line.
    """
    from dynabench.adversaries import attacks

    with ExitStack() as stack:
        target = stack.enter_context(out.open("w", encoding="utf-8")) if out else sys.stdout
        made = 0
        for line in attacks.perturb_rows(file, with_, seed, field or ()):
            target.write(line + "\n")
            made += 1
    typer.echo(f"{made} copies.", err=True)


@app.command()
def attack(
    model: Annotated[str, typer.Option(help="A model's name, or its folder.")],
    data: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="JSONL: the model's inputs and the label.")],
    with_: Annotated[str, typer.Option("--with", help="An adversary: substitution, typos, perturb, ...")],
    queries: Annotated[int, typer.Option(min=1, help="Answers of the model for one input.")] = 200,
    seconds: Annotated[float | None, typer.Option(min=0, help="Seconds for one input.")] = None,
    most: Annotated[int | None, typer.Option("--n", min=1, help="Stop after so many correct inputs.")] = None,
    keep: Annotated[list[str] | None, typer.Option(help="An input that stays as it is. Again for more.")] = None,
    option: Annotated[list[str] | None, typer.Option(help="name=value for the adversary. Again for more.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write what was proposed here, as JSONL.")] = None,
    as_json: AsJson = False,
) -> None:
    """Let an adversary change inputs that a model of this machine answers correctly, until it errs.

    Prints how many it fooled, with how many queries, and how near to their originals the texts stayed.
    """
    from dynabench.adversaries.protocol import Budget
    from dynabench.cli import attacking

    budget = Budget(queries=queries, seconds=seconds)
    attacking.run(model, data, with_, option or (), budget, most, keep or (), out, as_json)


@app.command("suite")
def write_suite(
    name: Annotated[str, typer.Argument(help="`list`, a suite's name, or the path of a YAML file.")],
    out: Annotated[Path | None, typer.Option(help="Write here instead of to the terminal.")] = None,
    as_json: AsJson = False,
) -> None:
    """Write the tests of suite NAME as JSONL rows, as `dynabench dataset add` takes them; or list the suites."""
    from dynabench.adversaries import checklist
    from dynabench.datasets import suites

    if name == "list":
        known = [(one, checklist.load_suite(one)) for one in checklist.shipped_suites()]
        told = [{"name": n, "task": s.task, "title": s.title, "phenomena": len(s.phenomena)} for n, s in known]
        say(as_json, {"suites": told}, "\n".join(f"{n}  {s.task}  {s.title}" for n, s in known))
        return
    rows = [json.dumps(row, ensure_ascii=False) for row in suites.lines(checklist.load_suite(name))]
    with ExitStack() as stack:
        target = stack.enter_context(out.open("w", encoding="utf-8")) if out else sys.stdout
        target.writelines(row + "\n" for row in rows)
    typer.echo(f"{len(rows)} tests.", err=True)


app.command("run")(proposing.run)
app.command("import")(proposing.bring)
app.command("mine")(mining.mine)
app.command("synthesize")(synthesizing.synthesize)
