"""`dynabench task`: create tasks from YAML, list them, say who is what to them."""

from pathlib import Path
from typing import Annotated

import typer

from dynabench.cli.operator import AsJson, database, say, table

app = typer.Typer(help="Create and list tasks.", no_args_is_help=True)


@app.command()
def create(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="The task's config, YAML.")],
    owner: Annotated[str, typer.Option(help="Username of who will own the task.")] = "",
    as_json: AsJson = False,
) -> None:
    """Create the task that FILE describes, or give the one of that id a new version."""
    from sqlalchemy.orm import Session

    from dynabench import errors
    from dynabench.rounds import service

    def save(session: Session) -> service.Saved:
        try:
            source = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise errors.Invalid({"config": "The file is not valid UTF-8."}) from None
        saved = service.save_task(session, None, source)
        if owner:
            service.set_role(session, None, saved.task_id, owner, "owner")
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
    name: Annotated[str, typer.Argument(metavar="ROLE", help="owner, moderator, expert, annotator or none.")],
    as_json: AsJson = False,
) -> None:
    """Give somebody a role in a task."""
    from dynabench.rounds import service

    with database() as db:
        db.write(service.set_role, None, task, username, None if name == "none" else name)
    say(as_json, {"task": task, "username": username, "role": name}, f"{username} is now {name} of {task}.")


@app.command()
def roles(task: str, as_json: AsJson = False) -> None:
    """List who has a role in a task or is banned from it."""
    from dynabench.rounds import people

    with database() as db:
        found = db.read(people.seats, None, task, 0, 100_000)
    rows = [
        {"id": seat.person_id, "username": seat.username, "role": seat.role, "banned": seat.banned} for seat in found
    ]
    table(as_json, rows, "id", "username", "role", "banned")


@app.command()
def invite(
    task: str,
    role: Annotated[str, typer.Argument(help="owner, moderator, expert or annotator.")],
    uses: Annotated[int, typer.Option(help="How many people may accept it.")] = 1,
    days: Annotated[int, typer.Option(help="How long it works.")] = 7,
    note: Annotated[str, typer.Option(help="Whom it is for; owners see it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a link that gives a role in a task to whoever accepts it; it is shown this once."""
    from dynabench.rounds import invitations

    with database() as db:
        made, secret = db.write(invitations.invite, None, task, role, note, uses, days)
    link = f"/join/{secret}"
    answer = {"id": made.id, "link": link, "role": role, "expires_at": made.expires_at}
    say(as_json, answer, f"{link}\nBelow the address of your site; it works until {made.expires_at:%Y-%m-%d}.")


@app.command()
def ban(
    task: str,
    username: str,
    reason: Annotated[str, typer.Option(help="They read it.")] = "",
    lift: Annotated[bool, typer.Option("--lift", help="Lift the ban instead.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let somebody neither write nor check for a task any more, or lift their ban."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import people

    def change(session: Session) -> None:
        person = people.named(session, username)
        if lift:
            people.lift(session, None, task, person.id)
        else:
            people.ban(session, None, task, person.id, reason)

    with database() as db:
        db.write(change)
    done = "may write and check again" if lift else "may no longer write or check"
    say(as_json, {"task": task, "username": username, "banned": not lift}, f"{username} {done} for {task}.")
