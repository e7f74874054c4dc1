"""`dynabench context`: upload, list and change contexts, and seeds to start from."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from dynabench.cli.operator import AsJson, database, say, table
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.rounds.contexts import UploadResult


app = typer.Typer(help="Upload, list and change contexts, and seeds to start from.", no_args_is_help=True)


@app.callback()
def contexts() -> None:
    """Upload, list and change contexts, and seeds to start from."""


@app.command()
def upload(
    task: str,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL, CSV, TSV, JSON, Parquet or a zip.")],
    as_json: AsJson = False,
) -> None:
    """Add the contexts of FILE to TASK. Bad rows are listed with their line; repeated ones are counted.

    JSONL: an object per line, either {"values": {...}, "tag": "..."} or the fields themselves. CSV: a column per
    field, optionally `tag` and `language` (an ISO 639 code). A zip holds one such table, whose cells name pictures,
    sounds and files in the zip. Exit status 1 if a row was left out.
    """
    import shutil
    import tempfile

    from dynabench.kit.settings import get_settings
    from dynabench.rounds import context_files

    quiet = Console(stderr=True, quiet=as_json)
    with (
        database() as db,
        tempfile.TemporaryDirectory(prefix="dynabench-") as place,
        Progress(console=quiet, transient=True) as progress,
    ):
        if file.suffix.lower() == context_files.ZIP_ENDING:
            copy = shutil.copyfile(file, Path(place) / f"contexts{context_files.ZIP_ENDING}")
            file = context_files.extract_zip_rows(db, get_settings(), task, None, copy)
        bar = progress.add_task(f"Contexts of {task}", total=file.stat().st_size)
        result = context_files.upload_contexts(
            db, task, file, lambda position: progress.update(bar, completed=position)
        )
    report_upload(file, result, as_json)


@app.command()
def seeds(
    task: str,
    file: Annotated[
        Path | None, typer.Argument(exists=True, dir_okay=False, help="JSONL, CSV, TSV, JSON or Parquet.")
    ] = None,
    from_round: Annotated[int, typer.Option(help="Use the examples of this round instead of a file.")] = 0,
    verdict: Annotated[str, typer.Option(help="With --from-round: only examples with this verdict.")] = "correct",
    as_json: AsJson = False,
) -> None:
    """Add seeds, texts that annotators of TASK start from, from FILE or from examples of an earlier round.

    JSONL: an object per line, {"context": {...}, "input": {...}, "answer": {...}, "tag": "..."} with all but input
    optional, or the input's fields themselves; CSV: a column per input field. Exit status 1 if a row was left out.
    """
    from dynabench.collection import seeds as seed_service

    if (file is None) == (from_round == 0):
        raise typer.BadParameter("Give either a FILE or --from-round.")
    with database() as db:
        if file is None:
            created = db.write(seed_service.from_round, None, task, from_round, verdict)
            return say(as_json, {"created": created}, f"{created} new seeds from round {from_round}.")
        result = seed_service.upload(db, task, file)
    return report_upload(file, result, as_json)


def report_upload(file: Path, result: "UploadResult", as_json: bool) -> None:
    """Report the rows created, known already and left out of a file, and end the command.

    The exit status is 1 if rows had errors, else 0.
    """
    bad = [{"row": row, "message": message} for row, message in result.errors]
    for item in bad if not as_json else []:
        typer.echo(f"{file.name}:{item['row']}: {item['message']}", err=True)
    answer = {"created": result.created, "duplicates": result.duplicates, "errors": bad}
    text = f"{result.created} new, {result.duplicates} known already, {len(bad)} left out."
    say(as_json, answer, text)
    raise typer.Exit(1 if bad else 0)


@app.command("list")
def list_contexts(
    task: str,
    q: Annotated[str, typer.Option(help="Words to search for, ignoring case.")] = "",
    tag: Annotated[str | None, typer.Option(help="Only contexts with this tag.")] = None,
    retired: Annotated[bool | None, typer.Option(help="Only retired contexts, or only others.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List contexts of TASK, newest first."""
    from dynabench.rounds import owner_lists, service
    from dynabench.rounds.owner_lists import ContextFilter

    after, more = None, True
    rows: list[dict[str, Any]] = []
    with database() as db:
        db.read(service.get_task, task)
        while more and len(rows) < limit:
            page = db.read(owner_lists.find_contexts, task, ContextFilter(q, tag, retired), after, limit - len(rows))
            rows += [item.model_dump(mode="json") for item in page.items]
            after, more = int(page.next or 0), page.next is not None
    table(as_json, rows, "id", "values", "tag", "language", "weight", "used", "fooled", "retired_at")


@app.command("change")
def change_contexts(
    task: str,
    context: Annotated[list[int], typer.Option(help="A context's id; repeatable.")],
    tag: Annotated[str | None, typer.Option(help="The tag to set.")] = None,
    language: Annotated[str | None, typer.Option(help="The ISO 639 code to set, such as en; empty for none.")] = None,
    weight: Annotated[float | None, typer.Option(help="The weight, if contexts are drawn by weight.")] = None,
    retire: Annotated[
        bool | None, typer.Option("--retire/--restore", help="Retire the contexts, or use them again.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tag, weigh, retire or bring back contexts of TASK, or set their language."""
    from dynabench.rounds import owner_lists
    from dynabench.rounds.owner_lists import ContextChange

    with database() as db:
        changed = db.write(
            owner_lists.change_contexts, None, task, context, ContextChange(tag, language, weight, retire)
        )
    say(as_json, {"changed": changed}, f"{changed} contexts of {task} were changed.")


@app.command("from-dataset")
def from_dataset(
    task: str,
    dataset: str,
    of_task: Annotated[str, typer.Option(help="The dataset's task, if it is another.")] = "",
    column: Annotated[list[str] | None, typer.Option(help="FIELD=COLUMN; once per field.")] = None,
    tag: Annotated[str, typer.Option(help="The column with tags.")] = "tag",
    as_json: AsJson = False,
) -> None:
    """Make contexts of TASK from the rows of a public DATASET. Exit status 1 if a row was left out.

    Columns are the inputs by name, the first answer as answer_FIELD, and the first tag as tag.
    """
    from dynabench.datasets import conversions
    from dynabench.intake.mapping import ColumnMapping
    from dynabench.rounds import context_files

    pairs = [item.partition("=") for item in column or []]
    if any(not (field and equals and name) for field, equals, name in pairs):
        raise typer.BadParameter("Give --column FIELD=COLUMN.")
    mapping = ColumnMapping.of_context({field: name for field, _, name in pairs}, tag) if pairs else None
    with database() as db, tempfile.TemporaryDirectory() as folder:
        rows = db.read(conversions.source_digest, None, task, of_task, dataset)
        file = Path(folder) / f"{dataset}.jsonl"
        conversions.write_context_file(get_settings(), rows, file)
        result = context_files.upload_contexts(db, task, file, lambda position: None, mapping)
    report_upload(file, result, as_json)
