"""`dynabench board`: take boards out in others' forms, bring in what others report."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from dynabench.cli.operator import AsJson, database, say, table

app = typer.Typer(
    help="Export leaderboards in Papers with Code's format; import results reported elsewhere.", no_args_is_help=True
)


@app.command()
def export(task: str) -> None:
    """Print TASK's public leaderboard as Papers with Code JSON."""
    from dynabench.benchmark.leaderboards import files
    from dynabench.benchmark.ranking import default_weights, rank_entrants
    from dynabench.benchmark.reading import read_board
    from dynabench.rounds import service as rounds

    def read(session: Session) -> Any:
        board = read_board(session, None, task)
        config = rounds.task_config(session, task)
        return files.papers_with_code(rank_entrants(board, default_weights(board)), config.name, config.description)

    with database() as db:
        typer.echo(json.dumps(db.read(read), ensure_ascii=False, indent=1))


@app.command("import")
def import_(
    task: str,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="Papers with Code JSON or a model card.")],
    source: Annotated[str, typer.Option(help="The address where these results are published.")],
    as_json: AsJson = False,
) -> None:
    """Import the results in FILE as reported elsewhere for TASK: listed, never ranked."""
    from dynabench.benchmark.leaderboards import reports

    def write(session: Session) -> dict[str, Any]:
        report_row = reports.add_report(session, None, task, file.read_bytes(), source)
        return {
            "id": report_row.id,
            "results": len(report_row.document["results"]),
            "left_out": report_row.document["left_out"],
        }

    with database() as db:
        report = db.write(write)
    for why in report["left_out"]:
        typer.echo(f"left out: {why}", err=True)
    say(as_json, report, f"Import {report['id']}: {report['results']} results, reported elsewhere.")


@app.command("imports")
def imports(task: str, as_json: AsJson = False) -> None:
    """List the imported results of TASK."""
    from dynabench.benchmark.leaderboards import reports

    def read(session: Session) -> list[dict[str, Any]]:
        return [
            {"id": item.id, "source": item.source, "results": len(item.document["results"]),
             "taken back": item.removed_at.isoformat() if item.removed_at else ""}
            for item in reports.reports_of_task(session, task)
        ]  # fmt: skip

    with database() as db:
        table(as_json, db.read(read), "id", "source", "results", "taken back")


@app.command()
def remove(
    task: str, id: int, undo: Annotated[bool, typer.Option(help="Restore the import.")] = False, as_json: AsJson = False
) -> None:
    """Remove import ID of TASK."""
    from dynabench.benchmark.leaderboards import reports

    with database() as db:
        db.write(reports.remove_report, None, task, id, not undo)
    say(as_json, {"id": id, "removed": not undo}, f"Import {id} is {'back' if undo else 'taken back'}.")
