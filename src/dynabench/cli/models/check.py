"""`dynabench model check`: does this model pass, and if not, what is to be done?"""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.cli.models.tasks import Task, named

if TYPE_CHECKING:
    from dynabench.models.checking.report import Report

LOOKS = {"ok": ("✓", "green"), "warning": ("!", "yellow"), "failed": ("✗", "red"), "skipped": ("-", "dim")}


def check(
    model: Annotated[str, typer.Argument(help="Folder, zip, installed name, hub id (org/name) or address.")],
    task: Task,
    seconds: Annotated[float, typer.Option(help="How long each figure of speed is measured.", min=0.0)] = 1.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Run the very code that the platform runs on sample inputs; exit status 1 if something failed."""
    from rich.console import Console

    from dynabench.models.checking import check as look

    config = named(task)
    with Console(stderr=True).status("Starting") as status:
        report = look(model, config, lambda name: status.update(f"{model}: {name}"), seconds)
    if as_json:
        typer.echo(json.dumps(report.document(), ensure_ascii=False))
    else:
        show(report)
    raise typer.Exit(0 if report.passed else 1)


def show(report: "Report") -> None:
    """The report as a table, then what to do, then one line that says how it ended."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    out = Console(soft_wrap=False, highlight=False)
    table = Table(box=None, show_header=False, pad_edge=False)
    for step in report.steps:
        mark, colour = LOOKS[step.state]
        table.add_row(Text(mark, style=colour), Text(step.name), Text(step.told))
    out.print(table)
    for step in (*report.failures, *report.warnings):
        out.print(Text(f"\n{step.name}: {step.remedy}", style=LOOKS[step.state][1]))
        for line in step.log:
            out.print(Text(f"  | {line}", style="dim"))
    out.print(Text(f"\n{report.told()}", style="bold green" if report.passed else "bold red"))
