"""`dynabench cycle`: a round closes and is released, models learn from it, the best becomes the next round's target."""

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from dynabench.cli.operator import AsJson, database, say
from dynabench.cli.round import until_served
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.cycle.views import TurnOut
    from dynabench.kit.db import Database

app = typer.Typer(help="Run a turn of the cycle: release, train, promote, open the next round.")
PATIENCE = 15.0
"""Seconds after which the command reports that no worker runs."""
POLL = 0.5
Id = Annotated[int | None, typer.Option("--turn", min=1, help="The turn; by default the newest.")]


@app.callback()
def cycle() -> None:
    """Run turns of the cycle of a task: close and release a round, train and compare models, open the next round."""


@app.command("run")
def run(
    task: str,
    plan: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="YAML: candidates, train, promote, next, release.")
    ] = None,
    number: Annotated[
        int | None, typer.Option("--round", min=1, help="The round to start from; by default the open one.")
    ] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Release in spite of warnings.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print a preview.")] = False,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended.")] = True,
    as_json: AsJson = False,
) -> None:
    """Run a turn of TASK as one job of the worker: close, release, train, evaluate, promote, open, report.

    It continues after a crash, and after this command ends. Exit status 1 if it stopped early.
    """
    from dynabench.cycle import plan as plans
    from dynabench.cycle import service, views

    chosen = plans.parse_plan(plan.read_text(encoding="utf-8") if plan else "")
    if anyway:
        chosen = chosen.model_copy(update={"anyway": True})
    with database() as db:
        if dry_run:
            preview = db.read(views.preview_turn, get_settings(), None, task, chosen, number)
            lines = ["Nothing is done yet. A turn would go like this:", *views.preview_sentences(preview)]
            say(as_json, preview.model_dump(mode="json"), "\n".join(lines))
            return
        turn_id = db.write(lambda session: service.start_turn(session, None, task, chosen, number).id)
        _end(_watched(db, task, turn_id, as_json) if wait else _read_turn(db, task, turn_id), as_json, wait)


@app.command("status")
def status(task: str, turn: Id = None, as_json: AsJson = False) -> None:
    """Show the progress or result of a turn of TASK."""
    with database() as db:
        _tell(_read_turn(db, task, turn), as_json)


@app.command("pause")
def pause(task: str, turn: Id = None, as_json: AsJson = False) -> None:
    """Pause the turn of TASK; finished work is kept."""
    from dynabench.cycle import service

    with database() as db:
        turn_id = db.write(lambda session: service.pause_turn(session, None, task, turn).id)
        _tell(_read_turn(db, task, turn_id), as_json)


@app.command("resume")
def resume(
    task: str,
    turn: Id = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it has ended.")] = True,
    as_json: AsJson = False,
) -> None:
    """Resume a paused or stopped turn of TASK."""
    from dynabench.cycle import service

    with database() as db:
        turn_id = db.write(lambda session: service.resume_turn(session, None, task, turn).id)
        _end(_watched(db, task, turn_id, as_json) if wait else _read_turn(db, task, turn_id), as_json, wait)


@app.command("undo")
def undo(
    task: str,
    turn: Id = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Undo a promotion of TASK: a round with the previous targets replaces the turn's next round."""
    from dynabench.cycle import round_steps

    with database() as db:
        current = _read_turn(db, task, turn)
        if not yes:
            typer.confirm(
                f"Close round {current.next} and open a new one with {', '.join(current.present)}?", abort=True
            )
        until_served(db.read(round_steps.models_to_restore, None, task, current.id))
        turn_id = db.write(
            lambda session: round_steps.undo_promotion(session, get_settings(), None, task, current.id).id
        )
        _tell(_read_turn(db, task, turn_id), as_json)


def _read_turn(db: "Database", task: str, id: int | None) -> "TurnOut":
    from dynabench.cycle import views

    return views.turn_with_progress(db, get_settings(), None, task, id)


def _watched(db: "Database", task: str, id: int, as_json: bool) -> "TurnOut":
    """The turn once it goes on no more; a bar tells how far it is."""
    from dynabench.cycle.tables import TurnState

    begun, warned = time.monotonic(), False
    console = Console(stderr=True, quiet=as_json)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as display:
        bar = display.add_task("", total=None, what="")
        while True:
            turn = _read_turn(db, task, id)
            if turn.state not in (TurnState.QUEUED, TurnState.RUNNING):
                return turn
            at = turn.progress
            total = (at.of or None) if at else None
            display.update(bar, description=turn.step, total=total, completed=at.done if at else 0,
                         what=at.what if at else "")  # fmt: skip
            if turn.state == TurnState.QUEUED and not warned and time.monotonic() - begun > PATIENCE:
                console.print("No worker has taken it yet: `dynabench serve` or `dynabench worker` does.")
                warned = True
            time.sleep(POLL)


def _end(turn: "TurnOut", as_json: bool, wait: bool) -> None:
    from dynabench.cycle.tables import TurnState

    _tell(turn, as_json)
    raise typer.Exit(0 if not wait or turn.state == TurnState.DONE else 1)


def _tell(turn: "TurnOut", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(turn.model_dump(mode="json")))
        return
    typer.echo("\n".join(_lines(turn)))


def _lines(turn: "TurnOut") -> list[Any]:
    lines = [f"Turn {turn.id} of {turn.task}, round {turn.round}: {turn.state} ({turn.step})"]
    if turn.reason:
        lines.append(turn.reason)
    if turn.release:
        lines.append(f"Release of round {turn.round}: sha256 {turn.release}")
    for item in turn.candidates:
        effort = f" on {item.rows:,} rows in {item.seconds:g} s" if item.rows and item.seconds is not None else ""
        lines.append(
            f"{item.name}{f'@{item.version}' * bool(item.version)}: {item.state}{effort} {item.reason}".rstrip()
        )
    if turn.report:
        for row in turn.report.rounds:
            low, high, value = row.change.low or 0.0, row.change.high or 0.0, row.change.value or 0.0
            lines.append(
                f"Round {row.round}, {row.n} rows: error {(row.old.value or 0):.1%} -> {(row.new.value or 0):.1%}, "
                f"change {value * 100:+.1f} points ({low * 100:+.1f} to {high * 100:+.1f})"
            )
        lines.append(turn.report.why)
    if turn.back:
        lines.append(f"Undone: round {turn.back} goes on with {', '.join(turn.present)}.")
    elif turn.next:
        lines.append(f"Next: round {turn.next}.")
    return lines
