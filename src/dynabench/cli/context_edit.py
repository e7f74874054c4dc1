"""`dynabench context list`, `change` and `from-dataset`: what there is, and what is handed out how."""

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from dynabench.cli.operator import AsJson, database, say, table
from dynabench.kit.settings import get_settings

app = typer.Typer()


@app.command("list")
def list_contexts(
    task: str,
    q: Annotated[str, typer.Option(help="Words that they have, whatever their case.")] = "",
    tag: Annotated[str | None, typer.Option(help="Only those with this tag.")] = None,
    retired: Annotated[bool | None, typer.Option(help="Only those that are, or are not, retired.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List contexts of TASK, newest first."""
    from dynabench.rounds import context_list, service
    from dynabench.rounds.context_list import Sought

    after: str | None = ""
    rows: list[dict[str, Any]] = []
    with database() as db:
        db.read(service.task, task)
        while after is not None and len(rows) < limit:
            page = db.read(context_list.find, task, Sought(q, tag, retired), after, limit - len(rows))
            rows += [each.model_dump(mode="json") for each in page.items]
            after = page.next
    table(as_json, rows, "id", "values", "tag", "weight", "used", "fooled", "retired_at")


@app.command("change")
def change_contexts(
    task: str,
    context: Annotated[list[int], typer.Option(help="A context's id; give several times.")],
    tag: Annotated[str | None, typer.Option(help="The tag to give them.")] = None,
    weight: Annotated[
        float | None, typer.Option(help="How often they come where contexts are drawn by weight.")
    ] = None,
    retire: Annotated[bool | None, typer.Option("--retire/--restore", help="Hand them out no more, or again.")] = None,
    as_json: AsJson = False,
) -> None:
    """Tag, weigh, retire or bring back contexts of TASK."""
    from dynabench.rounds import context_list
    from dynabench.rounds.context_list import Change

    with database() as db:
        changed = db.write(context_list.change, None, task, context, Change(tag, weight, retire))
    say(as_json, {"changed": changed}, f"{changed} contexts of {task} were changed.")


@app.command("from-dataset")
def from_dataset(
    task: str,
    dataset: str,
    of_task: Annotated[str, typer.Option(help="The task that the dataset belongs to, if it is another.")] = "",
    column: Annotated[list[str] | None, typer.Option(help="FIELD=COLUMN, for each field.")] = None,
    tag: Annotated[str, typer.Option(help="The column that holds tags.")] = "tag",
    as_json: AsJson = False,
) -> None:
    """Make contexts of TASK from the rows of a public DATASET. Exit status 1 where a row was left out.

    Columns are the rows' inputs by name, their first answer as answer_FIELD, and tag, their first tag.
    """
    from dynabench.cli.context import tell
    from dynabench.datasets import as_contexts
    from dynabench.intake.mapping import ColumnMapping
    from dynabench.rounds import files

    pairs = [each.partition("=") for each in column or []]
    if any(not (field and equals and name) for field, equals, name in pairs):
        raise typer.BadParameter("Give --column FIELD=COLUMN.")
    mapping = ColumnMapping.of_context({field: name for field, _, name in pairs}, tag) if pairs else None
    with database() as db, tempfile.TemporaryDirectory() as folder:
        rows = db.read(as_contexts.digest, None, task, of_task, dataset)
        file = Path(folder) / f"{dataset}.jsonl"
        as_contexts.write(get_settings(), rows, file)
        result = files.upload(db, task, file, lambda position: None, mapping)
    tell(file, result, as_json)
