"""`dynabench context`: upload contexts, and seeds to start from, from files of any size."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from dynabench.cli import context_edit
from dynabench.cli.operator import AsJson, database, say

if TYPE_CHECKING:
    from dynabench.rounds.contexts import Upload

app = typer.Typer(help="Upload, list and change contexts, and seeds to start from.", no_args_is_help=True)
app.add_typer(context_edit.app)


@app.callback()
def contexts() -> None:
    """Upload, list and change contexts, and seeds to start from."""


@app.command()
def upload(
    task: str,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL, CSV, TSV, JSON, Parquet or a zip.")],
    as_json: AsJson = False,
) -> None:
    """Add the contexts of FILE to TASK: good rows are kept, bad ones named with their line, repeated ones counted.

    JSONL: an object per line, either {"values": {...}, "tag": "..."} or the fields themselves. CSV: a column per
    field, and `tag` if you like. A zip
    holds one such table, whose cells name pictures, sounds and files beside it. Exit status 1 where a row was left out.
    """
    import shutil
    import tempfile

    from dynabench.kit.settings import get_settings
    from dynabench.rounds import archives, files

    quiet = Console(stderr=True, quiet=as_json)
    with (
        database() as db,
        tempfile.TemporaryDirectory(prefix="dynabench-") as place,
        Progress(console=quiet, transient=True) as progress,
    ):
        if file.suffix.lower() == archives.ENDING:
            copy = shutil.copyfile(file, Path(place) / f"contexts{archives.ENDING}")
            file = archives.rows(db, get_settings(), task, None, copy)
        bar = progress.add_task(f"Contexts of {task}", total=file.stat().st_size)
        result = files.upload(db, task, file, lambda position: progress.update(bar, completed=position))
    tell(file, result, as_json)


@app.command()
def seeds(
    task: str,
    file: Annotated[
        Path | None, typer.Argument(exists=True, dir_okay=False, help="JSONL, CSV, TSV, JSON or Parquet.")
    ] = None,
    from_round: Annotated[int, typer.Option(help="Take the examples of this round instead of a file.")] = 0,
    verdict: Annotated[str, typer.Option(help="With --from-round: the verdict that they have.")] = "correct",
    as_json: AsJson = False,
) -> None:
    """Add seeds, texts that annotators of TASK start from: those of FILE, or examples of an earlier round.

    JSONL: an object per line, {"context": {...}, "input": {...}, "answer": {...}, "tag": "..."} with all but input
    optional, or the input's fields themselves; CSV: a column per input field. Exit status 1 where a row was left out.
    """
    from dynabench.collection import seeds as service

    if (file is None) == (from_round == 0):
        raise typer.BadParameter("Give either a FILE or --from-round.")
    with database() as db:
        if file is None:
            created = db.write(service.from_round, None, task, from_round, verdict)
            return say(as_json, {"created": created}, f"{created} new seeds from round {from_round}.")
        result = service.upload(db, task, file)
    return tell(file, result, as_json)


def tell(file: Path, result: "Upload", as_json: bool) -> None:
    """Report the rows created, known already and left out of a file, and end the command.

    The exit status is 1 if rows had errors, else 0.
    """
    bad = [{"row": row, "message": message} for row, message in result.errors]
    for each in bad if not as_json else []:
        typer.echo(f"{file.name}:{each['row']}: {each['message']}", err=True)
    answer = {"created": result.created, "duplicates": result.duplicates, "errors": bad}
    text = f"{result.created} new, {result.duplicates} known already, {len(bad)} left out."
    say(as_json, answer, text)
    raise typer.Exit(1 if bad else 0)
