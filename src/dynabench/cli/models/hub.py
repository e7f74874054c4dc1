"""`dynabench model hub`: a model folder for a repository of the hub."""

from pathlib import Path
from typing import Annotated, Any

import typer

from dynabench.errors import Invalid


def bring(
    repository: Annotated[str, typer.Argument(help="Such as org/name.")],
    folder: Annotated[Path, typer.Argument(help="The new folder; its name becomes the model's.")],
    task: Annotated[str, typer.Option("--task", help="A shipped task, or a file with a task's config.")],
    architecture: Annotated[str, typer.Option("--architecture", help="What it does, in the hub's words.")],
    revision: Annotated[str, typer.Option("--revision", help="Branch, tag or commit.")] = "main",
    label: Annotated[
        list[str] | None, typer.Option("--label", help="THEIRS=OURS, where the model calls a label otherwise.")
    ] = None,
    prompt: Annotated[str, typer.Option("--prompt", help="What a model that writes is asked, with {field}.")] = "",
    option: Annotated[
        list[str] | None, typer.Option("--option", help="NAME=VALUE for any other option, such as answer=likelihood.")
    ] = None,
) -> None:
    """Write a model folder that points to a commit of a repository; nothing is loaded."""
    import yaml

    from dynabench.models import bringing
    from dynabench.models.spec import FILE

    others = {name: yaml.safe_load(value) for name, value in _pairs(option or [], "--option").items()}
    options: dict[str, Any] = {"architecture": architecture, **others}
    if label:
        options["labels"] = _pairs(label, "--label")
    if prompt:
        options["prompt"] = prompt
    made = bringing.bring(folder, _config(task), repository, revision, options)
    typer.echo((made / FILE).read_text(encoding="utf-8"), nl=False)


def _config(task: str) -> Any:
    from dynabench.tasks import shipped
    from dynabench.tasks.config import TaskConfig

    if Path(task).is_file():
        return TaskConfig.parse(Path(task).read_text(encoding="utf-8"))
    known = {one.config.id: one.config for one in shipped.builtin()}
    if task not in known:
        raise Invalid({"task": f"{task!r} is no file and none of {', '.join(known)}."})
    return known[task]


def _pairs(given: list[str], name: str) -> dict[str, str]:
    if wrong := [one for one in given if "=" not in one]:
        raise Invalid({name: f"{wrong[0]!r} is not of the form A=B."})
    return dict(one.split("=", 1) for one in given)
