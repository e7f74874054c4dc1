"""The task of a command: a shipped one by name, or a YAML file."""

from pathlib import Path
from typing import Annotated

import typer

from dynabench.kit.errors import Invalid
from dynabench.tasks.config import TaskConfig

Task = Annotated[str, typer.Option("--task", help="A shipped task such as nli, or a task's YAML file.")]


def named(task: str) -> TaskConfig:
    """The task's config; raises `Invalid` with those there are."""
    from dynabench.tasks import shipped

    known = {each.config.id: each.config for each in shipped.shipped_tasks()}
    if task in known:
        return known[task]
    path = Path(task).expanduser()
    if not path.is_file():
        raise Invalid({"task": f"There is no task {task!r}: say {', '.join(known)}, or name a YAML file."})
    try:
        return TaskConfig.parse(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise Invalid({"task": f"{path} is not valid UTF-8."}) from None
