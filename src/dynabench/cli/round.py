"""`dynabench round`: open, close and list rounds; their plans are in `round_plan`."""

import asyncio
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli import release, round_plan
from dynabench.cli.operator import AsJson, database, say, table
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.models.protocol import Card

PATIENCE = 120.0
"""Seconds that an opening waits for the models of the round."""
app = typer.Typer(help="Open, plan, clone, close, release and list rounds.", no_args_is_help=True)
app.add_typer(round_plan.app)
app.add_typer(release.app)


async def _cards() -> list["Card"]:
    """The models of the host: of this machine's from their folders, of a remote one by asking it."""
    settings = get_settings()
    if not settings.host_url:
        from dynabench.models import catalog

        return [entry.card for entry in catalog.find(catalog.folders(settings)) if entry.card]
    from dynabench.models.client import Host

    host = Host.of(settings)
    try:
        return await host.index()
    finally:
        await host.close()


def _arms(text: str) -> list[Any]:
    """The arms that an option holds, or the file that it names after an `@`."""
    from dynabench.kit import errors

    try:
        found = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text or "[]")
    except OSError as error:
        raise errors.Invalid({"arms": f"The file cannot be read: {error.strerror}."}) from None
    except ValueError:
        raise errors.Invalid({"arms": "This is not valid JSON."}) from None
    if not isinstance(found, list):
        raise errors.Invalid({"arms": "Give a list of arms."})
    return found


def until_served(models: list[tuple[str, str]]) -> None:
    """Wait until the running hosts serve the models, and say what is awaited; raises `NotServed` after two minutes.

    Where no host answers, it says so and returns: hosts load all models when they start.
    """
    from dynabench.models import serving

    until, told = time.monotonic() + PATIENCE, ""
    while refusal := serving.opening_refusal(get_settings(), models):
        if not isinstance(refusal, serving.NotServed):
            typer.echo(f"Nobody can play yet: {refusal.detail} The models are loaded when one starts.", err=True)
            return
        if time.monotonic() >= until:
            raise refusal
        if refusal.detail != told:
            typer.echo(f"Waiting: {refusal.detail}", err=True)
            told = refusal.detail
        time.sleep(serving.RETRY_SECONDS)


@app.command("open")
def open_round(
    task: str,
    target: Annotated[
        list[str], typer.Option(help="Model in the loop, NAME or NAME@VERSION; give several times. none: ask nobody.")
    ],
    ensemble: Annotated[str, typer.Option(help="Fooled when any, the majority or all of the targets are.")] = "any",
    arms: Annotated[
        str,
        typer.Option(
            help="Conditions drawn at random: a JSON list of {name, share, targets, start, assistant}, or @FILE."
        ),
    ] = "",
    assign: Annotated[str, typer.Option(help="An arm with each item that is handed out, or once per person.")] = "item",
    as_json: AsJson = False,
) -> None:
    """Open a round of TASK against fixed targets."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import required_models, resolving, schemas, service, views

    def make(session: Session) -> schemas.RoundOut:
        drafted = service.draft_round(session, None, task, cards, ensemble, conditions, assign, judge)
        return views.round_out(session, service.open_round(session, None, task, drafted.number))

    with database() as db:
        config, served = db.read(service.newest_config, task), asyncio.run(_cards())
        conditions = resolving.arms(config, _arms(arms), served)
        cards, judge = resolving.targets(config, target, served), resolving.judge(config, served)
        until_served(required_models.models_named(cards, conditions, judge))
        made = db.write(make)
    say(as_json, made.model_dump(mode="json"), f"Round {made.number} of {task} is open against {', '.join(target)}.")


@app.command("close")
def close_round(
    task: str,
    number: Annotated[int, typer.Option("--round", help="Number of the round; by default the open one.")] = 0,
    preview: Annotated[bool, typer.Option("--preview", help="Only say what its release would hold by now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Close the open round of TASK, at once."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import schemas, service, views

    if preview:
        with database() as db:
            which = number or db.read(service.open_round_of, task).number
        return release.release(task, which, preview=True, as_json=as_json)

    def close(session: Session) -> schemas.RoundOut:
        which = number or service.open_round_of(session, task).number
        return views.round_out(session, service.close_round(session, None, task, which))

    with database() as db:
        closed = db.write(close)
    say(as_json, closed.model_dump(mode="json"), f"Round {closed.number} of {task} is closed.")
    return None


@app.command("list")
def list_rounds(task: str, as_json: AsJson = False) -> None:
    """List the rounds of TASK."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import queries, schemas, service, views

    def read(session: Session) -> list[schemas.RoundOut]:
        service.task(session, task)
        return [views.round_out(session, each) for each in session.scalars(queries.rounds(task))]

    with database() as db:
        found = db.read(read)
    rows = [row.model_dump(mode="json") for row in found]
    if not as_json:
        rows = [row | {"targets": ", ".join(target["model"] for target in row["targets"])} for row in rows]
    table(as_json, rows, "number", "state", "ensemble", "targets", "opened_at", "closed_at")
