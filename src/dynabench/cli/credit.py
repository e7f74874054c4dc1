"""`dynabench credit`: how the cards of releases name people."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, OutFile, database, say, table, write_table

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(help="List, choose and reset how releases name people; export thanks.", no_args_is_help=True)
User = Annotated[str, typer.Argument(metavar="USERNAME")]


@app.command("list")
def list_all(as_json: AsJson = False) -> None:
    """List the choices of people who made one; nobody else is named."""
    from dynabench.communities.credits import service

    def read(session: "Session") -> list[dict[str, Any]]:
        return [
            {"username": person.username, "mode": credit.mode, "name": credit.name, "changed_at": credit.changed_at}
            for credit, person in service.list_credits(session)
        ]

    with database() as db:
        facts = db.read(read)
    table(as_json, facts, "username", "mode", "name", "changed_at")


@app.command("create")
def create(
    username: User,
    name: Annotated[str, typer.Option(help="The name to print; without it the public name of the site.")] = "",
    as_json: AsJson = False,
) -> None:
    """Note how a person, who asked for it, is named in the thanks of releases from now on."""
    from dynabench.communities.credits import service
    from dynabench.communities.credits.tables import CreditMode
    from dynabench.rounds.people import person_named

    def write(session: "Session") -> dict[str, Any]:
        mode = CreditMode.NAME if name else CreditMode.PSEUDONYM
        credit = service.choose_credit(session, person_named(session, username), mode, name)
        return {"username": username, "mode": credit.mode, "name": credit.name}

    with database() as db:
        facts = db.write(write)
    say(as_json, facts, f"Releases from now on thank {username}.")


@app.command("reset")
def reset(username: User, as_json: AsJson = False) -> None:
    """Forget a person's choice: releases from now on do not name the person."""
    from dynabench.communities.credits import service
    from dynabench.rounds.people import person_named

    def write(session: "Session") -> None:
        service.reset_credit(session, person_named(session, username))

    with database() as db:
        db.write(write)
    say(as_json, {"username": username}, f"Releases from now on do not name {username}.")


@app.command("export")
def export(
    task: str,
    number: Annotated[int, typer.Argument(min=1, metavar="ROUND", help="The number of the round.")],
    out: OutFile = None,
) -> None:
    """Write the people and teams whom a release of a round would thank now, as CSV."""
    from dynabench.communities.credits import service
    from dynabench.rounds.service import round_of

    def read(session: "Session") -> list[list[object]]:
        people, teams = service.thanks_for(session, round_of(session, task, number).id)
        rows: list[list[object]] = [["person", name] for name in people]
        return rows + [["team", name] for name in teams]

    with database() as db:
        write_table(out, ("kind", "name"), db.read(read))
