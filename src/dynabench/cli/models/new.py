"""`dynabench model new`: a folder that works at once, to be made one's own."""

import json
from pathlib import Path
from typing import Annotated

import typer

from dynabench.cli.models.tasks import Task, named


def new(
    name: Annotated[str, typer.Argument(help="The model's name: small letters, digits, dots and hyphens.")],
    task: Task,
    kind: Annotated[str, typer.Option(help="What it is; `dynabench model kinds` lists all.")] = "handler",
    into: Annotated[Path, typer.Option(help="Where the folder NAME is made.", file_okay=False)] = Path(),
    url: Annotated[str, typer.Option(help="Where a served model answers.")] = "",
    model: Annotated[str, typer.Option(help="What a server calls the model.")] = "",
    members: Annotated[str, typer.Option(help="Members of an ensemble, by commas; else all that fit.")] = "",
    source: Annotated[str, typer.Option(help="Hub id or folder of a pretrained model.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write the folder NAME with model.yaml, README.md and what the kind needs."""
    from dynabench.models import starting

    folder = starting.start(name, named(task), kind, into, url=url, model=model, members=members, source=source)
    if as_json:
        found = sorted(path.name for path in folder.iterdir())
        typer.echo(json.dumps({"folder": str(folder), "kind": kind, "files": found}))
    else:
        typer.echo(f"{folder}/ is a model of kind {kind}. Next: dynabench model check {folder} --task {task}")
