"""Helpers of the operator's commands: the database, plain errors, and answers for people or programs."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.progress import Task as ProgressTask
from rich.table import Table
from rich.text import Text
from sqlalchemy import inspect
from sqlalchemy.exc import OperationalError

from dynabench.kit import errors
from dynabench.kit.db import Database
from dynabench.kit.settings import get_settings

QUIET = 4.0
"""Seconds between two lines about progress in a log."""
OutFile = Annotated[Path | None, typer.Option("--out", dir_okay=False, help="A file; by default the output.")]
AsJson = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]


def refuse(message: str) -> NoReturn:
    """End the command with a reason and status 1."""
    Console(stderr=True, soft_wrap=True).print(message, style="red", markup=False)
    raise typer.Exit(1) from None


@contextmanager
def refusals() -> Iterator[None]:
    """End the command with the reason and status 1 where the platform's own code or a server refuses."""
    from dynabench.client import ApiError

    try:
        yield
    except (errors.Problem, ApiError) as problem:
        refuse(problem.detail if isinstance(problem, errors.Problem) else str(problem))


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
        refuse(f"{problem.title}: {problem.detail}")
    except OperationalError as error:
        if "database is locked" not in str(error):
            raise
        refuse("Another process has been writing to the database for too long. Nothing is half done: try again.")
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


class _Rate(ProgressColumn):
    def render(self, task: ProgressTask) -> Text:
        """Say how many are done a second."""
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "")


def write_table(out: Path | None, header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Write rows as CSV to a file, or to the output where none is named; spreadsheets do not run its cells."""
    from dynabench.kit.csv_tables import pieces

    write_text(out, "".join(pieces(header, rows)))


def write_text(out: Path | None, text: str) -> None:
    """Write a text to a file, or to the output where none is named."""
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.write_text(text, encoding="utf-8", newline="")


@contextmanager
def bars(as_json: bool) -> Iterator[Callable[[str, int, int], None]]:
    """Progress bars on standard error, none in JSON: a function of a step, of how much of it is done, of how much.

    Where standard error is no terminal, such as a log, it gets a line every few seconds instead.
    """
    console = Console(stderr=True, quiet=as_json)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}
        printed_at = 0.0

        def tell(step: str, done: int, total: int) -> None:
            nonlocal printed_at
            if step not in tasks:
                tasks[step] = progress.add_task(step, total=total)
            progress.update(tasks[step], completed=done, total=total)
            if not console.is_terminal and (done == total or time.monotonic() - printed_at > QUIET):
                printed_at = time.monotonic()
                task = next(task for task in progress.tasks if task.id == tasks[step])
                rate = f", {task.speed:,.0f}/s" if task.speed else ""
                time_left = f", {task.time_remaining:,.0f} s left" if task.time_remaining else ""
                console.print(f"{step}: {done:,} of {total:,}{rate}{time_left}", highlight=False)

        yield tell


@contextmanager
def bar(label: str, as_json: bool) -> Iterator[Callable[[int, int], None]]:
    """One progress bar: a function of how much is done, of how much."""
    with bars(as_json) as tell:
        yield partial(tell, label)
