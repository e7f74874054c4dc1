"""What the operator's commands share: the database, plain errors, and answers for people or programs."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from dynabench import errors
from dynabench.db import Database
from dynabench.settings import get_settings

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


@contextmanager
def refusals() -> Iterator[None]:
    """What we or a platform refuse ends the command with its reason and status 1."""
    from dynabench.client import ApiError

    try:
        yield
    except (errors.Problem, ApiError) as problem:
        said = problem.detail if isinstance(problem, errors.Problem) else str(problem)
        Console(stderr=True, soft_wrap=True).print(said, style="red", markup=False)
        raise typer.Exit(1) from None


@contextmanager
def database() -> Iterator[Database]:
    """The deployment's database; what a service refuses ends the command with its reason and status 1."""
    db = Database(get_settings().url)
    try:
        yield db
    except errors.Problem as problem:
        Console(stderr=True, soft_wrap=True).print(f"{problem.title}: {problem.detail}", style="red", markup=False)
        raise typer.Exit(1) from None
    finally:
        db.close()


def say(as_json: bool, answer: Any, text: str) -> None:
    """One answer: JSON for programs, a sentence for people."""
    typer.echo(json.dumps(answer, default=str) if as_json else text)


def table(as_json: bool, rows: Sequence[dict[str, Any]], *columns: str) -> None:
    """Rows of an answer: JSON for programs, a table of `columns` for people."""
    if as_json:
        typer.echo(json.dumps(rows, default=str))
        return
    shown = Table(*columns)
    for row in rows:
        shown.add_row(*("" if row[name] is None else str(row[name]) for name in columns))
    Console().print(shown)


@contextmanager
def bar(label: str, as_json: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, none in JSON: a function of how much is done, of how much."""
    with Progress(console=Console(stderr=True, quiet=as_json), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)
