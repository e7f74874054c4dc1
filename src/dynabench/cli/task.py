"""`dynabench task`: create tasks from YAML, list them, say who owns them."""

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
