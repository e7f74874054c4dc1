"""Helpers of the operator's commands: the database, plain errors, and answers for people or programs."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from sqlalchemy import inspect

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.settings import get_settings

AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


@contextmanager
def refusals() -> Iterator[None]:
    """End the command with the reason and status 1 where the platform's own code or a server refuses."""
    from dynabench.client import ApiError

    try:
        yield
    except (errors.Problem, ApiError) as problem:
        message = problem.detail if isinstance(problem, errors.Problem) else str(problem)
        Console(stderr=True, soft_wrap=True).print(message, style="red", markup=False)
        raise typer.Exit(1) from None


@contextmanager
def database(any_version: bool = False, any_secret: bool = False) -> Iterator[Database]:
    """The deployment's database, at the version that the code needs unless `any_version`.

    Unless `any_secret` either, the home folder must be the one that belongs to the database: in another, a fresh secret
    would be made, and files written that nobody finds. What a service refuses ends the command with its reason and
    status 1, and so does a database without its tables.
    """
    db = Database(get_settings().url)
    try:
        if not any_version:
            _current(db)
            if not any_secret:
                _check_home(db)
        yield db
    except errors.Problem as problem:
        Console(stderr=True, soft_wrap=True).print(f"{problem.title}: {problem.detail}", style="red", markup=False)
        raise typer.Exit(1) from None
    finally:
        db.close()


def _current(db: Database) -> None:
    """Refuse a database that nobody has brought up to date: often it is not the one that is meant."""
    from dynabench.operations import migrations

    version, newest = migrations.version(db), migrations.newest()
    if version == newest or (not version and inspect(db.engine).has_table("people")):
        return
    where = db.engine.url.render_as_string(hide_password=True)
    problem = f"is at version {version}, the code needs {newest}" if version else "has no tables yet"
    raise errors.Conflict(
        f"The database {where} {problem}. If the platform keeps its state elsewhere (`make run`: in .dynabench), set "
        "DYNABENCH_HOME to that folder; otherwise run `dynabench db upgrade`."
    )


def _check_home(db: Database) -> None:
    from dynabench.operations import key_check

    settings = get_settings()
    key_check.check_restored(settings)
    db.read(key_check.check_secret, settings)


def say(as_json: bool, answer: Any, text: str) -> None:
    """One answer: JSON for programs, a sentence for people."""
    typer.echo(json.dumps(answer, default=str) if as_json else text)


def table(as_json: bool, rows: Sequence[dict[str, Any]], *columns: str) -> None:
    """Rows of an answer: JSON for programs, a table of `columns` for people."""
    if as_json:
        typer.echo(json.dumps(rows, default=str))
        return
    view = Table(*columns)
    for row in rows:
        view.add_row(*("" if row[name] is None else str(row[name]) for name in columns))
    Console().print(view)


@contextmanager
def bar(label: str, as_json: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error, none in JSON: a function of how much is done, of how much."""
    with Progress(console=Console(stderr=True, quiet=as_json), transient=True) as progress:
        task = progress.add_task(label, total=None)
        yield lambda done, of: progress.update(task, completed=done, total=of)
