"""`dynabench team`: teams, their links for joining, and their board."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli.operator import AsJson, OutFile, database, say, table, write_table

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(help="List and create teams, renew their links, export the board.", no_args_is_help=True)
OfTask = Annotated[str, typer.Option("--task", help="Only teams of this task or of the whole site.")]


@app.command("list")
def list_all(task: OfTask = "", as_json: AsJson = False) -> None:
    """List teams by their verified fooling examples, with their captains."""
    from dynabench.communities.teams import board, service
    from dynabench.people.accounts.service import usernames

    def read(session: "Session") -> list[dict[str, Any]]:
        lines = board.rank_teams(session, task)
        captains = {line.team.id: service.captain_of(session, line.team.id) for line in lines}
        names = usernames(session, [captain for captain in captains.values() if captain])
        return [
            {
                "id": line.team.id, "name": line.team.name, "task": line.team.task_id, "rank": line.rank,
                "captain": names.get(captains[line.team.id] or 0), "members": line.members,
                "examples": line.counts.examples, "fooled": line.counts.fooled, "verified": line.counts.validated,
                "vmer": line.rates.vmer.value,
            }
            for line in lines
        ]  # fmt: skip

    with database() as db:
        facts = db.read(read)
    columns = ("id", "name", "task", "captain", "members", "rank", "examples", "fooled", "verified", "vmer")
    table(as_json, facts, *columns)


@app.command("create")
def create(
    name: str,
    captain: Annotated[str, typer.Option(help="Username of the captain.")],
    task: Annotated[str, typer.Option(help="The task of the team; without it the whole site.")] = "",
    about: Annotated[str, typer.Option(help="A description in Markdown.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a team; the captain invites with a link, which `dynabench team reset` prints."""
    from dynabench.communities.teams import service
    from dynabench.communities.teams.schemas import TeamIn
    from dynabench.rounds.people import person_named

    def write(session: "Session") -> int:
        body = TeamIn(name=name, task=task, about=about)
        return service.create_team(session, person_named(session, captain), body).id

    with database() as db:
        team = db.write(write)
    say(as_json, {"id": team, "name": name}, f"Team {team} was made. {captain} is its captain.")


@app.command("reset")
def reset(team: Annotated[int, typer.Argument(min=1, help="The number of the team.")], as_json: AsJson = False) -> None:
    """Make a new link for joining a team and print it; the earlier link lets nobody in any more."""
    from dynabench.communities.teams import service
    from dynabench.kit.settings import get_settings

    with database() as db:
        secret = db.write(service.renew_link, None, team)
    path = f"/teams/join/{secret}"
    link = f"{get_settings().site}{path}"
    say(as_json, {"id": team, "secret": secret, "link": link}, f"People join by {link}")


@app.command("export")
def export(task: OfTask = "", out: OutFile = None) -> None:
    """Write the board of teams as CSV."""
    from dynabench.communities.teams import board

    def read(session: "Session") -> list[list[object]]:
        return board.table_rows(board.rank_teams(session, task))

    with database() as db:
        write_table(out, board.HEADER, db.read(read))
