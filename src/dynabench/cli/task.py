"""`dynabench task`: create tasks from YAML, list them, give people roles in them."""

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dynabench.cli.operator import AsJson, bar, database, refusals, say, table
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.tasks.reading import DialectNote


app = typer.Typer(help="Create, list, export and clone tasks; manage roles.", no_args_is_help=True)


@app.command()
def create(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The task's config, YAML.")],
    owner: Annotated[str, typer.Option(help="Username of the task's owner.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create the task in FILE, or a new version of the task with this id."""
    from sqlalchemy.orm import Session

    from dynabench.kit import errors
    from dynabench.people.roles import TaskRole
    from dynabench.rounds import service
    from dynabench.tasks import reading

    def save(session: Session) -> service.SavedConfig:
        try:
            source = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise errors.Invalid({"config": "The file is not valid UTF-8."}) from None
        try:
            saved = service.save_task(session, None, source)
        except errors.Invalid:
            if explanation := reading.explain_older(source):
                raise errors.Invalid({"config": explanation}, explanation) from None
            raise
        if owner:
            service.set_role(session, None, saved.task_id, owner, TaskRole.OWNER)
        return saved

    with database() as db:
        saved = db.write(save)
    text = f"Task {saved.task_id}: version {saved.version}" + ("" if saved.changed else " (unchanged)")
    answer = {"id": saved.task_id, "version": saved.version, "created": saved.created, "changed": saved.changed}
    say(as_json, answer, text)


@app.command("list")
def list_tasks(as_json: AsJson = False) -> None:
    """List all tasks."""
    from dynabench.rounds import views

    with database() as db:
        page = db.read(views.task_page, "", 10_000)
    table(as_json, [row.model_dump() for row in page.items], "id", "name", "open_round", "rounds")


@app.command()
def role(
    task: str,
    username: str,
    name: Annotated[
        str, typer.Argument(metavar="ROLE", help="owner, moderator, expert, annotator, validator or none.")
    ],
    as_json: AsJson = False,
) -> None:
    """Give a person a role in a task."""
    from dynabench.rounds import service

    with database() as db:
        db.write(service.set_role, None, task, username, None if name == "none" else name)
    say(as_json, {"task": task, "username": username, "role": name}, f"{username} is now {name} of {task}.")


@app.command()
def roles(task: str, as_json: AsJson = False) -> None:
    """List the roles and bans of a task."""
    from dynabench.rounds import people

    with database() as db:
        seats = db.read(people.list_members, None, task, 0, 100_000)
    rows = [
        {"id": seat.person_id, "username": seat.username, "role": seat.role, "banned": seat.banned} for seat in seats
    ]
    table(as_json, rows, "id", "username", "role", "banned")


@app.command()
def signals(
    task: str,
    kind: Annotated[
        str, typer.Option(help="speed, copy, near_duplicate, paste, model_text or device; all by default.")
    ] = "",
    state: Annotated[str, typer.Option(help="open, fine, acted or all.")] = "open",
    as_json: AsJson = False,
) -> None:
    """List the newest 1,000 signals about examples of a task; they prove nothing and change nothing by themselves."""
    from dynabench.quality.signals import service
    from dynabench.quality.signals.tables import SignalKind, SignalState

    filters = service.SignalFilters(SignalKind(kind) if kind else None, None if state == "all" else SignalState(state))
    with database() as db:
        signal_rows = db.read(service.list_signals, None, task, filters, None, 1_000)
    rows = [
        {
            "id": row.signal.id,
            "kind": row.signal.kind,
            "example": row.signal.example_id,
            "author": row.author,
            "value": row.signal.value,
            "state": row.signal.state,
        }
        for row in signal_rows
    ]
    table(as_json, rows, "id", "kind", "example", "author", "value", "state")


@app.command()
def invite(
    task: str,
    role: Annotated[str, typer.Argument(help="owner, moderator, expert, annotator or validator.")],
    uses: Annotated[int, typer.Option(help="Number of people who may accept it.")] = 1,
    days: Annotated[int, typer.Option(help="Days until it expires.")] = 7,
    note: Annotated[str, typer.Option(help="A note for the owners.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create an invitation link for a role in a task; it is shown once."""
    from dynabench.rounds import invitations

    with database() as db:
        invitation, secret = db.write(invitations.create_invitation, None, task, role, note, uses, days)
    link = f"/join/{secret}"
    answer = {"id": invitation.id, "link": link, "role": role, "expires_at": invitation.expires_at}
    say(as_json, answer, f"{link}\nBelow the address of your site; it works until {invitation.expires_at:%Y-%m-%d}.")


@app.command()
def export(
    task: str,
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write, a zip file.")],
    examples: Annotated[bool, typer.Option(help="Include rounds, examples and earlier versions of the config.")] = True,
    as_json: AsJson = False,
) -> None:
    """Write the whole task as one archive: config versions, rounds, contexts, seeds, examples with votes."""
    from dynabench.datasets.archives import service as direct

    with bar(f"Archive of {task}", as_json) as tell, database() as db, output.open("wb") as file:
        manifest = direct.export_archive(db, get_settings(), task, file, tell, examples=examples)
    answer = {"task": task, "file": str(output), "bytes": output.stat().st_size, "rows": manifest.rows}
    say(
        as_json,
        answer,
        f"{manifest.rows['examples']} examples and {manifest.rows['contexts']} contexts of {task} in {output}.",
    )


@app.command("import-archive")
def import_archive(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="An archive of a task.")],
    id: Annotated[str, typer.Option("--id", help="The id of the new task.")],
    owner: Annotated[str, typer.Option(help="Username of the task's owner.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create a task from an archive under another id. Exit status 1 if a row was refused."""
    from dynabench.datasets.archives import service as direct

    with bar(f"Task {id}", as_json) as tell, database() as db:
        total, read = file.stat().st_size, 0

        def report_size(size: int) -> None:
            nonlocal read
            read += size
            tell(read, max(total, read))

        imported = direct.import_archive(db, get_settings(), file, id, owner, report_size)
    for name, line, message in imported.refused if not as_json else []:
        typer.echo(f"{name}:{line}: {message}", err=True)
    refused = [{"file": name, "line": line, "message": message} for name, line, message in imported.refused]
    answer = {"id": id, "rows": imported.manifest.rows, "refused": refused, "notes": imported.notes}
    say(as_json, answer, f"Task {id}: {imported.manifest.rows['examples']} examples, {len(refused)} rows left out.")
    raise typer.Exit(1 if refused else 0)


@app.command()
def clone(
    task: str,
    id: Annotated[str, typer.Argument(help="The id of the new task.")],
    owner: Annotated[str, typer.Option(help="Username of the new task's owner.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create another task with the newest config, the contexts and the seeds of TASK."""
    from dynabench.datasets.archives import service as direct

    with database() as db, tempfile.TemporaryDirectory(prefix="dynabench-") as place:
        path = Path(place) / "clone.zip"
        with path.open("wb") as file:
            direct.export_archive(db, get_settings(), task, file, lambda *_: None, examples=False)
        imported = direct.import_archive(db, get_settings(), path, id, owner)
    say(as_json, {"id": id, "of": task, "rows": imported.manifest.rows}, f"Task {id} is a clone of {task}.")


@app.command()
def proposals(
    state: Annotated[str, typer.Option(help="waiting, accepted, refused or withdrawn; empty for all.")] = "waiting",
    as_json: AsJson = False,
) -> None:
    """List proposed tasks."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import proposal_api
    from dynabench.rounds import proposals as proposed

    def read(session: Session) -> list[dict[str, object]]:
        rows = proposed.list_proposals(session, None, state or None, None, 1_000)  # type: ignore[arg-type]
        return [proposal_api.proposal_values(session, item) for item in rows]

    with database() as db:
        table(as_json, db.read(read), "id", "task", "by", "state", "created_at")


@app.command()
def decide(
    proposal: Annotated[int, typer.Argument(help="Number of the proposal.")],
    accept: Annotated[bool, typer.Option("--accept/--refuse", help="The decision.")],
    reason: Annotated[str, typer.Option(help="A reason for the proposer; required for a refusal.")] = "",
    as_json: AsJson = False,
) -> None:
    """Accept a proposed task, or refuse it."""
    from dynabench.rounds import proposals as proposed

    with database() as db:
        proposal_row = db.write(proposed.decide_proposal, None, proposal, accept, reason)
    say(
        as_json,
        {"id": proposal, "task": proposal_row.task_id, "state": proposal_row.state},
        f"{proposal_row.task_id}: {proposal_row.state}.",
    )


@app.command()
def ban(
    task: str,
    username: str,
    reason: Annotated[str, typer.Option(help="A reason that the person can read.")] = "",
    lift: Annotated[bool, typer.Option("--lift", help="Lift the ban instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Ban a person from a task, or lift the ban."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import people

    def change(session: Session) -> None:
        person = people.person_named(session, username)
        if lift:
            people.lift_ban(session, None, task, person.id)
        else:
            people.ban_person(session, None, task, person.id, reason)

    with database() as db:
        db.write(change)
    done = "may write and check again" if lift else "may no longer write or check"
    say(as_json, {"task": task, "username": username, "banned": not lift}, f"{username} {done} for {task}.")


MAX_CONFIG_BYTES = 1_000_000
"""Bytes of a file that are read; a config has far fewer."""
SIGNS = {"same": "=", "changed": "~", "dropped": "-", "wrong": "!"}
COLOURS = {"same": "default", "changed": "yellow", "dropped": "magenta", "wrong": "red"}


@app.command("import")
def import_config(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="An older config, YAML.")],
    id: Annotated[str, typer.Option("--id", help="The id of the new task.")],
    name: Annotated[str, typer.Option(help="The displayed name; by default from the id.")] = "",
    owner: Annotated[str, typer.Option(help="Username of the task's owner.")] = "",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the new config to this file.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the report on each line.")] = False,
    as_json: AsJson = False,
) -> None:
    """Create a task from an older config, and report on each of its lines.

    = means the same, ~ nearly the same, - has no counterpart, ! prevents the conversion. Exit status 1 if the
    result is no valid task.
    """
    from dynabench.tasks import reading

    with refusals():
        translation = reading.read_older_config(_read_config(file), id, name)
    if not as_json:
        _print_notes(translation.notes)
    if output and translation.source:
        output.write_text(translation.source, encoding="utf-8")
    created = translation.valid and not dry_run and _create_task(translation.source, owner)
    answer = {
        "id": id,
        "dialect": translation.dialect,
        "valid": translation.valid,
        "created": created,
        "notes": [asdict(note) for note in translation.notes],
        "config": translation.source,
    }
    verb = (
        "was made" if created else "would be valid" if translation.valid else "was not made: mend what is marked with !"
    )
    say(as_json, answer, f"Task {id} {verb}.")
    raise typer.Exit(0 if translation.valid else 1)


def _read_config(file: Path) -> str:
    from dynabench.kit import errors

    with file.open("rb") as opened:
        content = opened.read(MAX_CONFIG_BYTES)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise errors.Invalid({"config": "The file is not valid UTF-8."}) from None


def _print_notes(notes: "tuple[DialectNote, ...]") -> None:
    console = Console(soft_wrap=True)
    for note in notes:
        where = f"{note.line:>5}" if note.line else "     "
        line = f"{note.key}: {note.text}" if note.key else note.text
        console.print(f"{where} {SIGNS[note.kind]} {line}", style=COLOURS[note.kind], markup=False, highlight=False)


def _create_task(source: str, owner: str) -> bool:
    """Make the task, which must not be there yet."""
    from sqlalchemy.orm import Session

    from dynabench.people.roles import TaskRole
    from dynabench.rounds import proposals, service

    def save(session: Session) -> None:
        proposals.check_new_task(session, source)
        saved = service.save_task(session, None, source)
        if owner:
            service.set_role(session, None, saved.task_id, owner, TaskRole.OWNER)

    with database() as db:
        db.write(save)
    return True
