"""`dynabench context`: upload contexts from a file of any size."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from dynabench.cli.operator import AsJson, database, say

app = typer.Typer(help="Upload contexts.", no_args_is_help=True)


@app.callback()
def contexts() -> None:
    """Upload contexts."""


@app.command()
def upload(
    task: str,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL or CSV, by its ending.")],
    as_json: AsJson = False,
) -> None:
    """Add the contexts of FILE to TASK: good rows are kept, bad ones named with their line, repeated ones counted.

    JSONL: an object per line, either {"values": {...}, "tag": "..."} or the fields themselves. CSV: a column per
    field, and `tag` if you like. Exit status 1 where a row was left out.
    """
    from dynabench.rounds import files

    quiet = Console(stderr=True, quiet=as_json)
    with database() as db, Progress(console=quiet, transient=True) as progress:
        bar = progress.add_task(f"Contexts of {task}", total=file.stat().st_size)
        result = files.upload(db, task, file, lambda position: progress.update(bar, completed=position))
    bad = [{"row": row, "message": message} for row, message in result.errors]
    for each in bad if not as_json else []:
        typer.echo(f"{file.name}:{each['row']}: {each['message']}", err=True)
    answer = {"created": result.created, "duplicates": result.duplicates, "errors": bad}
    text = f"{result.created} new, {result.duplicates} known already, {len(bad)} left out."
    say(as_json, answer, text)
    raise typer.Exit(1 if bad else 0)
