"""`dynabench export`: a task's examples as a file."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from dynabench.cli.operator import database
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.datasets.exports import Pages

app = typer.Typer(help="Write a task's examples to a file.")


@app.command()
def export(
    task: str,
    number: Annotated[int | None, typer.Option("--round", min=1, help="Only this round.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; else standard output.")] = None,
    form: Annotated[
        str, typer.Option("--format", help="jsonl, csv, parquet or zip (with files); by default as the file's name.")
    ] = "",
    attributions: Annotated[bool, typer.Option(help="With the words that models looked at.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Tell in JSON, on standard error, what was written.")] = False,
) -> None:
    """Write the examples of TASK with predictions and votes, people as pseudonyms; retracted and hidden ones stay out.

    A name that ends in .gz is compressed. The docs have the rows' format.
    """
    import gc
    import json
    from dataclasses import replace

    from dynabench.datasets import exports, scopes
    from dynabench.datasets.formats import FORMATS, gzipped
    from dynabench.kit import errors
    from dynabench.media.store import MediaStore

    gc.disable()  # a tenth of the time went into looking for circles, of which an export makes none
    kind = form or _kind_of(output)
    quiet = Console(stderr=True, quiet=as_json or output is None)
    with database() as db, Progress(console=quiet, transient=True) as progress:
        if kind not in FORMATS:
            raise errors.Invalid({"format": f"Choose one of {', '.join(FORMATS)}."})
        what = db.read(scopes.scope, None, task, number, attributions=attributions)
        what = replace(what, files=MediaStore.of(get_settings()))
        bar = progress.add_task(f"Examples of {task}", total=db.read(scopes.expected, what))
        parts = FORMATS[kind].write(_counted(exports.records(db, get_settings(), what), progress, bar), what)
        parts = gzipped(parts) if output and output.suffix.lower() == ".gz" else parts
        with output.open("wb") if output else nullcontext(sys.stdout.buffer) as file:
            for part in parts:
                file.write(part)
            file.flush()
        written = int(progress.tasks[bar].completed)
    told = {"task": task, "rows": written, "format": kind, "file": str(output) if output else None}
    text = f"{written} rows of {task} in {output}."
    if as_json or output is not None:
        typer.echo(json.dumps(told) if as_json else text, err=True)


def _counted(pages: "Pages", progress: Progress, bar: TaskID) -> "Pages":
    for page in pages:
        yield page
        progress.advance(bar, len(page))


def _kind_of(output: Path | None) -> str:
    """The format that a file's name says; JSON lines where it says none."""
    from dynabench.datasets.formats import FORMATS

    name = output.name.lower().removesuffix(".gz") if output else ""
    return next((kind for kind, of in FORMATS.items() if name.endswith(of.ending)), "jsonl")
