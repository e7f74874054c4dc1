"""`dynabench task import`: a task from a config of one of Dynabench's older dialects."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dynabench.cli.operator import AsJson, database, refusals, say

if TYPE_CHECKING:
    from dynabench.tasks.reading import DialectNote

MOST = 1_000_000
"""Bytes of a file that are read; a config has far fewer."""
SIGNS = {"same": "=", "changed": "~", "dropped": "-", "wrong": "!"}
COLOURS = {"same": "default", "changed": "yellow", "dropped": "magenta", "wrong": "red"}


def import_config(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="An older config, YAML.")],
    id: Annotated[str, typer.Option("--id", help="The id of the task that is made.")],
    name: Annotated[str, typer.Option(help="What people read; made from the id when absent.")] = "",
    owner: Annotated[str, typer.Option(help="Username of who will own the task.")] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the new config to this file.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what becomes of each line.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make a task of a config in an older dialect, and say what becomes of each of its lines.

    = means the same, ~ nearly the same, - has no counterpart, ! stands in the way. Exit status 1 where no valid task
    results.
    """
    from dynabench.tasks import reading

    with refusals():
        made = reading.read_older_config(_text(file), id, name)
    if not as_json:
        _tell(made.notes)
    if output and made.source:
        output.write_text(made.source, encoding="utf-8")
    created = made.valid and not dry_run and _create(made.source, owner)
    answer = {
        "id": id,
        "dialect": made.dialect,
        "valid": made.valid,
        "created": created,
        "notes": [asdict(note) for note in made.notes],
        "config": made.source,
    }
    verb = "was made" if created else "would be valid" if made.valid else "was not made: mend what is marked with !"
    say(as_json, answer, f"Task {id} {verb}.")
    raise typer.Exit(0 if made.valid else 1)


def _text(file: Path) -> str:
    from dynabench.kit import errors

    with file.open("rb") as opened:
        content = opened.read(MOST)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise errors.Invalid({"config": "The file is not valid UTF-8."}) from None


def _tell(notes: "tuple[DialectNote, ...]") -> None:
    console = Console(soft_wrap=True)
    for note in notes:
        where = f"{note.line:>5}" if note.line else "     "
        told = f"{note.key}: {note.text}" if note.key else note.text
        console.print(f"{where} {SIGNS[note.kind]} {told}", style=COLOURS[note.kind], markup=False, highlight=False)


def _create(source: str, owner: str) -> bool:
    """Make the task, which must not be there yet."""
    from sqlalchemy.orm import Session

    from dynabench.people.roles import TaskRole
    from dynabench.rounds import proposals, service

    def save(session: Session) -> None:
        proposals.check_new(session, source)
        saved = service.save_task(session, None, source)
        if owner:
            service.set_role(session, None, saved.task_id, owner, TaskRole.OWNER)

    with database() as db:
        db.write(save)
    return True
