"""`dynabench model hub`: a model folder for a repository of the hub."""

from pathlib import Path
from typing import Annotated, Any

import typer

from dynabench.cli.models.tasks import Task, named
from dynabench.kit.errors import Invalid


def bring(
    repository: Annotated[str, typer.Argument(help="Such as org/name.")],
    folder: Annotated[Path, typer.Argument(help="The new folder; its name becomes the model's.")],
    task: Task,
    architecture: Annotated[str, typer.Option(help="What it does, where its config.json does not tell.")] = "",
    revision: Annotated[str, typer.Option("--revision", help="Branch, tag or commit.")] = "main",
    label: Annotated[
        list[str] | None, typer.Option("--label", help="THEIRS=OURS, where the model calls a label otherwise.")
    ] = None,
    prompt: Annotated[str, typer.Option("--prompt", help="What a model that writes is asked, with {field}.")] = "",
    option: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE for any other option, such as answer=likelihood.")
    ] = None,
) -> None:
    """Write a model folder that points to a commit of a repository, as `new --source` does, with all options."""
    import yaml

    from dynabench.models.spec import FILE
    from dynabench.models.starting import described

    options: dict[str, Any] = {"architecture": architecture, "labels": _pairs(label or [], "--label"), "prompt": prompt}
    options = {name: value for name, value in options.items() if value}
    options |= {name: yaml.safe_load(value) for name, value in _pairs(option or [], "--option").items()}
    made = described.from_hub(repository, folder.name, named(task), folder.parent, revision, **options)
    typer.echo((made / FILE).read_text(encoding="utf-8"), nl=False)


def _pairs(given: list[str], name: str) -> dict[str, str]:
    if wrong := [one for one in given if "=" not in one]:
        raise Invalid({name: f"{wrong[0]!r} is not of the form A=B."})
    return dict(one.split("=", 1) for one in given)
