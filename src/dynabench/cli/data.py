"""`dynabench export` and `dynabench import`: examples to a file; examples, contexts or seeds from files or the hub."""

import sys
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from dynabench.cli.operator import AsJson, database, say
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.datasets.exports import Pages


export_app = typer.Typer(help="Write a task's examples to a file.")


@export_app.command()
def export(
    task: str,
    number: Annotated[int | None, typer.Option("--round", min=1, help="Only this round.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; by default standard output.")
    ] = None,
    form: Annotated[
        str, typer.Option("--format", help="jsonl, csv, parquet or zip (with files); by default from the file's name.")
    ] = "",
    attributions: Annotated[bool, typer.Option(help="Include explanations by word.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON summary on standard error.")] = False,
) -> None:
    """Export the examples of TASK with predictions and votes under pseudonyms, without withdrawn and hidden ones.

    A name that ends in .gz is compressed. See the page "Rows of data" for the format.
    """
    import gc
    import json
    from dataclasses import replace

    from dynabench.datasets import exports, scopes
    from dynabench.datasets.formats import FORMATS, compress_parts
    from dynabench.kit import errors
    from dynabench.media.store import MediaStore

    gc.disable()  # a tenth of the time went into looking for circles, of which an export makes none
    kind = form or _format_of(output)
    quiet = Console(stderr=True, quiet=as_json or output is None)
    with database() as db, Progress(console=quiet, transient=True) as progress:
        if kind not in FORMATS:
            raise errors.Invalid({"format": f"Choose one of {', '.join(FORMATS)}."})
        scope = db.read(scopes.export_scope, None, task, number, attributions=attributions)
        scope = replace(scope, files=MediaStore.of(get_settings()))
        bar = progress.add_task(f"Examples of {task}", total=db.read(scopes.expected_rows, scope))
        parts = FORMATS[kind].write(_counted(exports.read_records(db, get_settings(), scope), progress, bar), scope)
        parts = compress_parts(parts) if output and output.suffix.lower() == ".gz" else parts
        with output.open("wb") if output else nullcontext(sys.stdout.buffer) as file:
            for part in parts:
                file.write(part)
            file.flush()
        written = int(progress.tasks[bar].completed)
    summary = {"task": task, "rows": written, "format": kind, "file": str(output) if output else None}
    text = f"{written} rows of {task} in {output}."
    if as_json or output is not None:
        typer.echo(json.dumps(summary) if as_json else text, err=True)


def _counted(pages: "Pages", progress: Progress, bar: TaskID) -> "Pages":
    for page in pages:
        yield page
        progress.advance(bar, len(page))


def _format_of(output: Path | None) -> str:
    """The format that a file's name says; JSON lines where it says none."""
    from dynabench.datasets.formats import FORMATS

    name = output.name.lower().removesuffix(".gz") if output else ""
    return next((kind for kind, format_ in FORMATS.items() if name.endswith(format_.ending)), "jsonl")


import_app = typer.Typer(help="Import examples, contexts or seeds.")


@import_app.command()
def import_(
    task: str,
    source: Annotated[str, typer.Argument(help="A file, a dataset's folder, or hub:ID.")],
    into: Annotated[str, typer.Option("--as", help="Import rows as examples, contexts or seeds.")] = "examples",
    form: Annotated[
        str, typer.Option("--format", help="auto, own, squad, anli, dynasent, dynahate, hatemoji.")
    ] = "auto",
    mapping: Annotated[Path | None, typer.Option(exists=True, help="YAML or JSON with the mapping of columns.")] = None,
    config: Annotated[str, typer.Option(help="Config of a dataset.")] = "",
    split: Annotated[str, typer.Option(help="Split of a dataset.")] = "",
    revision: Annotated[str, typer.Option(help="Revision of a dataset of the hub.")] = "",
    as_json: AsJson = False,
) -> None:
    """Import the rows of SOURCE into TASK; examples go into separate closed rounds.

    A repeated import adds nothing twice. Exit status 1 if a row was left out.
    """
    from dynabench.datasets.imports import batches, files
    from dynabench.datasets.imports.places import ImportState

    quiet = Console(stderr=True, quiet=as_json)
    document = mapping.read_text(encoding="utf-8") if mapping else None
    total, refused = ImportState(), []
    with (
        database() as db,
        tempfile.TemporaryDirectory(prefix="dynabench-") as place,
        Progress(console=quiet, transient=True) as progress,
    ):
        for sent in _files(source, Path(place) / "hub", config, split, revision):
            file = sent
            if files.is_export_zip(sent):
                file = files.extract_rows(db, get_settings(), task, None, sent, Path(place) / "rows.jsonl")
            bar = progress.add_task(file.name, total=file.stat().st_size)
            plan = batches.plan_file(file, file.name, into, form, document)
            state, bad = batches.import_file(db, get_settings(), task, file, plan, partial(_update, progress, bar))
            total = _sum(total, state)
            refused += [{"file": file.name, "row": row.number, "message": row.message} for row in bad]
    if not as_json:
        _warn(refused, total.notes)
    counts: dict[str, Any] = {"created": total.created, "duplicates": total.duplicates}
    text = f"{total.created} new, {total.duplicates} known already, {len(refused)} left out."
    say(as_json, counts | {"notes": total.notes, "errors": refused}, text)
    raise typer.Exit(1 if refused else 0)


def _files(source: str, place: Path, config: str, split: str, revision: str) -> list[Path]:
    """The files that SOURCE means; those of the hub are downloaded to `place`."""
    from dynabench.intake import sources

    if source.startswith("hub:"):
        hub_dataset = sources.HubRequest(source.removeprefix("hub:"), config, split, revision)
        return sources.download_dataset(get_settings(), hub_dataset, place)
    path = Path(source)
    return sources.local_files(path, config, split) if path.is_dir() else [_file(path)]


def _file(path: Path) -> Path:
    from dynabench.kit import errors

    if not path.is_file():
        raise errors.Invalid({"source": f"There is no file or folder {path}; a dataset of the hub is hub:ID."})
    return path


def _update(progress: Progress, bar: TaskID, at: int) -> None:
    progress.update(bar, completed=at)


def _warn(refused: list[dict[str, Any]], notes: dict[str, int]) -> None:
    for row in refused:
        typer.echo(f"{row['file']}:{row['row']}: {row['message']}", err=True)
    for note, times in notes.items():
        typer.echo(f"{note}: {times}", err=True)


def _sum(total: Any, state: Any) -> Any:
    total.created += state.created
    total.duplicates += state.duplicates
    for note, times in state.notes.items():
        total.note(note, times)
    return total
