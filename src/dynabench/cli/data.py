"""`dynabench import`: examples, contexts or seeds from a file, a dataset's folder or the hub."""

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, TaskID

from dynabench.cli.operator import AsJson, database, say
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.intake.bad_rows import BadRow

app = typer.Typer(help="Bring in examples, contexts or seeds of others.")


@app.command()
def import_(
    task: str,
    source: Annotated[str, typer.Argument(help="A file, a dataset's folder, or hub:ID of a dataset.")],
    into: Annotated[str, typer.Option("--as", help="What rows become: examples, contexts or seeds.")] = "examples",
    form: Annotated[
        str, typer.Option("--format", help="auto, own, squad, anli, dynasent, dynahate, hatemoji.")
    ] = "auto",
    mapping: Annotated[
        Path | None, typer.Option(exists=True, help="YAML or JSON that says which column is what.")
    ] = None,
    config: Annotated[str, typer.Option(help="Config of a dataset.")] = "",
    split: Annotated[str, typer.Option(help="Split of a dataset.")] = "",
    revision: Annotated[str, typer.Option(help="Revision of a dataset of the hub.")] = "",
    as_json: AsJson = False,
) -> None:
    """Add the rows of SOURCE to TASK; finished examples go into closed rounds of their own.

    Running it again brings nothing twice. Exit status 1 where a row was left out.
    """
    from dynabench.datasets.imports import batches, direct, files
    from dynabench.datasets.imports.state import State

    quiet = Console(stderr=True, quiet=as_json)
    document = mapping.read_text(encoding="utf-8") if mapping else None
    total, refused = State(), []
    with (
        database() as db,
        tempfile.TemporaryDirectory(prefix="dynabench-") as place,
        Progress(console=quiet, transient=True) as progress,
    ):
        for sent in _files(source, Path(place) / "hub", config, split, revision):
            each = sent
            if files.is_one(sent):
                each = files.rows(db, get_settings(), task, None, sent, Path(place) / "rows.jsonl")
            bar = progress.add_task(each.name, total=each.stat().st_size)
            plan = batches.plan_for(each, each.name, into, form, document)
            state, bad = direct.run(db, get_settings(), task, each, plan, partial(_update, progress, bar))
            total = _sum(total, state)
            refused += [_bad(each, one) for one in bad]
    if not as_json:
        _warn(refused, total.notes)
    counts: dict[str, Any] = {"created": total.created, "duplicates": total.duplicates}
    text = f"{total.created} new, {total.duplicates} known already, {len(refused)} left out."
    say(as_json, counts | {"notes": total.notes, "errors": refused}, text)
    raise typer.Exit(1 if refused else 0)


def _files(source: str, place: Path, config: str, split: str, revision: str) -> list[Path]:
    """The files that SOURCE means; those of the hub are downloaded to `place`."""
    from dynabench.datasets.imports import hub
    from dynabench.intake import folders

    if source.startswith("hub:"):
        wanted = hub.Wanted(source.removeprefix("hub:"), config, split, revision)
        return hub.download(get_settings(), wanted, place)
    path = Path(source)
    return folders.local(path, config, split) if path.is_dir() else [_file(path)]


def _file(path: Path) -> Path:
    from dynabench.kit import errors

    if not path.is_file():
        raise errors.Invalid({"source": f"There is no file or folder {path}; a dataset of the hub is hub:ID."})
    return path


def _update(progress: Progress, bar: TaskID, at: int) -> None:
    progress.update(bar, completed=at)


def _warn(refused: list[dict[str, Any]], notes: dict[str, int]) -> None:
    for one in refused:
        typer.echo(f"{one['file']}:{one['row']}: {one['message']}", err=True)
    for note, times in notes.items():
        typer.echo(f"{note}: {times}", err=True)


def _bad(file: Path, one: "BadRow") -> dict[str, Any]:
    return {"file": file.name, "row": one.number, "message": one.message}


def _sum(total: Any, state: Any) -> Any:
    total.created += state.created
    total.duplicates += state.duplicates
    for note, times in state.notes.items():
        total.note(note, times)
    return total
