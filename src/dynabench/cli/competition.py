"""`dynabench competition`: competitions of teams on a round, and their rankings."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from dynabench.cli.operator import AsJson, OutFile, database, say, table, write_table, write_text

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

app = typer.Typer(help="List, create, finish and delete competitions; export rankings.", no_args_is_help=True)
CompetitionId = Annotated[int, typer.Argument(min=1, metavar="COMPETITION", help="The number of the competition.")]


@app.command("list")
def list_all(
    task: Annotated[str, typer.Option(help="Only competitions of this task.")] = "", as_json: AsJson = False
) -> None:
    """List competitions, the newest first."""
    from dynabench.communities.competitions import queries
    from dynabench.rounds.tables import Round

    def read(session: "Session") -> list[dict[str, Any]]:
        return [
            {
                "id": row.id, "name": row.name, "task": row.task_id,
                "round": session.get_one(Round, row.round_id).number, "state": row.state.value, "budget": row.budget,
                "teams": len(session.execute(queries.entries(row.id)).all()),
                "starts_at": row.starts_at, "ends_at": row.ends_at,
            }
            for row in session.scalars(queries.competitions(task)).all()
        ]  # fmt: skip

    with database() as db:
        facts = db.read(read)
    table(as_json, facts, "id", "name", "task", "round", "state", "teams", "budget", "starts_at", "ends_at")


@app.command("create")
def create(
    task: str,
    number: Annotated[int, typer.Argument(min=1, metavar="ROUND", help="A draft, or an open round without examples.")],
    name: str,
    starts: Annotated[datetime, typer.Option(help="The start, in UTC.")],
    ends: Annotated[datetime, typer.Option(help="The end, in UTC.")],
    budget: Annotated[int, typer.Option(min=1, help="Examples of a team.")] = 100,
    least: Annotated[int | None, typer.Option(min=1, help="Examples that a rank needs; else half the budget.")] = None,
    members: Annotated[int, typer.Option(min=1, help="Members of a team who may write.")] = 10,
    rules: Annotated[str, typer.Option(help="Markdown.")] = "",
    freeze: Annotated[Literal["live", "frozen", "hidden"], typer.Option(help="The board near the end.")] = "live",
    freeze_at: Annotated[datetime | None, typer.Option(help="The moment of the freeze, in UTC.")] = None,
    as_json: AsJson = False,
) -> None:
    """Make a competition on a round of TASK."""
    from dynabench.communities.competitions import service
    from dynabench.communities.competitions.schemas import CompetitionIn

    body = CompetitionIn.model_validate(
        {
            "name": name, "round": number, "rules": rules, "budget": budget, "least_examples": least,
            "most_members": members, "starts_at": starts.replace(tzinfo=UTC), "ends_at": ends.replace(tzinfo=UTC),
            "freeze": freeze, "freeze_at": freeze_at.replace(tzinfo=UTC) if freeze_at else None,
        }
    )  # fmt: skip

    def write(session: "Session") -> int:
        return service.create_competition(session, None, task, body).id

    with database() as db:
        competition = db.write(write)
    say(as_json, {"id": competition}, f"Competition {competition} was made. Teams enter it at /competitions.")


@app.command("finish")
def finish(
    competition: CompetitionId,
    despite_pending: Annotated[bool, typer.Option(help="Finish although fooling examples wait for a verdict.")] = False,
    as_json: AsJson = False,
) -> None:
    """Make the final report of a competition that has ended; it never changes."""
    from dynabench.communities.competitions import service

    with database() as db:
        report = db.write(service.finish, None, competition, despite_pending)
    facts = report.model_dump(mode="json")
    say(as_json, facts, f"{len(report.lines)} teams are in the final report. The members have a notice.")


@app.command("reset")
def reset(competition: CompetitionId, as_json: AsJson = False) -> None:
    """Delete a competition in which nothing was written; its round is a usual one again."""
    from dynabench.communities.competitions import service

    with database() as db:
        db.write(service.delete_competition, None, competition)
    say(as_json, {"deleted": competition}, "The competition was deleted. Its round is a usual one again.")


@app.command("export")
def export(
    competition: CompetitionId,
    out: OutFile = None,
    report: Annotated[bool, typer.Option("--report", help="The final report as Markdown.")] = False,
) -> None:
    """Write the ranking as CSV, as it stands now or in the final report."""
    from dynabench.communities.competitions import report as reports
    from dynabench.communities.competitions import service
    from dynabench.communities.competitions.ranking import read_ranking

    def read(session: "Session") -> str | list[list[object]]:
        chosen = service.find_competition(session, competition)
        if report:
            return reports.markdown_report(service.read_report(chosen))
        if chosen.report is not None:
            return reports.table_rows(service.read_report(chosen).lines)
        return reports.table_rows([service.line_out(line) for line in read_ranking(session, chosen)])

    with database() as db:
        content = db.read(read)
    if isinstance(content, str):
        write_text(out, content)
    else:
        write_table(out, reports.HEADER, content)
