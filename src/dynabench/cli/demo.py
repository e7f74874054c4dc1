"""`dynabench demo`: the data that `dynabench serve --demo` adds."""

from typing import Annotated

import typer

from dynabench.cli.operator import AsJson, database, say
from dynabench.kit.settings import get_settings

app = typer.Typer(help="Remove the demo data.")


@app.callback()
def demo() -> None:
    """Manage the data that `dynabench serve --demo` adds."""


@app.command("remove")
def remove(
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Remove all demo data: its people, rounds, examples, models and scores, and the tasks that nobody else uses.

    Tasks with examples, owners or models of real people stay, with these, their contexts and their open round. Restart
    the platform afterwards, without --demo.
    """
    from dynabench.operations.demo_removal import remove_demo

    if not yes:
        typer.confirm("Remove the demo's people, rounds, examples, models and scores?", abort=True)
    with database() as db:
        counts = remove_demo(db, get_settings()).counts
    say(as_json, {"removed": counts}, f"Removed {sum(counts.values()):,} rows of demo data.")
