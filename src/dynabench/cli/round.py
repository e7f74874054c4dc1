"""`dynabench round`: open, plan, clone, close and list rounds."""

import asyncio
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dynabench.cli import release
from dynabench.cli.operator import AsJson, database, say, table
from dynabench.kit.settings import get_settings

if TYPE_CHECKING:
    from dynabench.models.protocol import ModelCard


PATIENCE = 120.0
"""Seconds that an opening waits for the models of the round."""
app = typer.Typer(help="Open, plan, clone, close, release and list rounds.", no_args_is_help=True)
app.add_typer(release.app)


async def _cards() -> list["ModelCard"]:
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
        arms = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text or "[]")
    except OSError as error:
        raise errors.Invalid({"arms": f"The file cannot be read: {error.strerror}."}) from None
    except ValueError:
        raise errors.Invalid({"arms": "This is not valid JSON."}) from None
    if not isinstance(arms, list):
        raise errors.Invalid({"arms": "Give a list of arms."})
    return arms


def until_served(models: list[tuple[str, str]]) -> None:
    """Wait until the running hosts serve the models, and say what is awaited; raises `NotServed` after two minutes.

    Where no host answers, it says so and returns: hosts load all models when they start.
    """
    from dynabench.models import serving

    until, last_message = time.monotonic() + PATIENCE, ""
    while refusal := serving.opening_refusal(get_settings(), models):
        if not isinstance(refusal, serving.NotServed):
            typer.echo(
                f"The models do not answer yet: {refusal.detail} They are loaded when a model host starts.", err=True
            )
            return
        if time.monotonic() >= until:
            raise refusal
        if refusal.detail != last_message:
            typer.echo(f"Waiting: {refusal.detail}", err=True)
            last_message = refusal.detail
        time.sleep(serving.RETRY_SECONDS)


@app.command("open")
def open_round(
    task: str,
    target: Annotated[
        list[str], typer.Option(help="Model in the loop, NAME or NAME@VERSION; repeatable. none: no model.")
    ],
    ensemble: Annotated[str, typer.Option(help="Rule: any, majority or all targets must be fooled.")] = "any",
    arms: Annotated[
        str,
        typer.Option(
            help="Conditions drawn at random: a JSON list of {name, share, targets, start, assistant}, or @FILE."
        ),
    ] = "",
    assign: Annotated[str, typer.Option(help="Draw an arm for each item, or once per person.")] = "item",
    as_json: AsJson = False,
) -> None:
    """Open a round of TASK against fixed targets."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import round_models, schemas, service, views

    def make(session: Session) -> schemas.RoundOut:
        drafted = service.draft_round(session, None, task, cards, ensemble, conditions, assign, judge)
        return views.round_out(session, service.open_round(session, None, task, drafted.number))

    with database() as db:
        config, served = db.read(service.newest_config, task), asyncio.run(_cards())
        conditions = round_models.resolve_arms(config, _arms(arms), served)
        cards, judge = round_models.resolve_targets(config, target, served), round_models.resolve_judge(config, served)
        until_served(round_models.models_named(cards, conditions, judge))
        opened = db.write(make)
    say(
        as_json, opened.model_dump(mode="json"), f"Round {opened.number} of {task} is open against {', '.join(target)}."
    )


@app.command("close")
def close_round(
    task: str,
    number: Annotated[int, typer.Option("--round", help="Number of the round; by default the open one.")] = 0,
    preview: Annotated[bool, typer.Option("--preview", help="Only print what its release would contain now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Close the open round of TASK at once."""
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
        service.get_task(session, task)
        return [views.round_out(session, item) for item in session.scalars(queries.rounds(task))]

    with database() as db:
        rounds = db.read(read)
    rows = [row.model_dump(mode="json") for row in rounds]
    if not as_json:
        rows = [row | {"targets": ", ".join(target["model"] for target in row["targets"])} for row in rows]
    table(as_json, rows, "number", "state", "ensemble", "targets", "opened_at", "closed_at")


RoundNumber = Annotated[int, typer.Argument(help="Number of the round.")]


def _document(text: str) -> dict[str, Any]:
    """The plan that an option holds, or the file that it names after an `@`."""
    from dynabench.kit import errors

    try:
        document = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except OSError as error:
        raise errors.Invalid({"set": f"The file cannot be read: {error.strerror}."}) from None
    except ValueError:
        raise errors.Invalid({"set": "This is not valid JSON."}) from None
    if not isinstance(document, dict):
        raise errors.Invalid({"set": "Give an object."})
    return document


@app.command("plan")
def plan_round(
    task: str,
    number: RoundNumber,
    change: Annotated[
        str, typer.Option("--set", help="Members of the plan to change, a JSON object, or @FILE; null unsets one.")
    ] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Undo the last change.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show or change the plan of a round of TASK: opens_at, closes_at, goals, limits, audience, sampling, contexts.

    For example --set '{"limits": {"per_day": 20}, "closes_at": "2030-01-31T18:00:00Z"}'.
    """
    from sqlalchemy.orm import Session

    from dynabench.rounds import planning, service
    from dynabench.rounds.plan import parse_plan

    def run(session: Session) -> dict[str, Any]:
        if undo:
            planning.undo_plan_change(session, None, task, number)
        if change:
            before = planning.plan_of(service.round_of(session, task, number)).document()
            changed = {key: value for key, value in (before | _document(change)).items() if value is not None}
            planning.change_plan(session, None, task, number, parse_plan(changed))
        return planning.plan_of(service.round_of(session, task, number)).document()

    with database() as db:
        plan = db.write(run) if undo or change else db.read(run)
    changes = ", ".join(f"{name}: {json.dumps(value)}" for name, value in plan.items()) or "as usual"
    say(as_json, plan, f"Round {number} of {task}: {changes}.")


@app.command("clone")
def clone_round(
    task: str,
    number: RoundNumber,
    part: Annotated[
        list[str] | None,
        typer.Option(help="What to copy: arms, goals, limits, audience, contexts; by default all."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draft a copy of a round of TASK with the same targets."""
    from dynabench.rounds import planning, views
    from dynabench.rounds.plan import PARTS

    with database() as db:
        draft = db.write(
            lambda session: views.round_out(session, planning.clone_round(session, None, task, number, part or PARTS))
        )
    say(as_json, draft.model_dump(mode="json"), f"Round {draft.number} of {task} is a draft like round {number}.")


@app.command("choose")
def choose_contexts(
    task: str,
    number: RoundNumber,
    context: Annotated[list[int] | None, typer.Option(help="A context's id; repeatable.")] = None,
    draw: Annotated[int, typer.Option(min=0, max=200, help="Draw this many at random instead.")] = 0,
    from_round: Annotated[int, typer.Option(help="Copy the choice of this round instead.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Choose the contexts of a round of TASK; without a choice, all contexts of the task are used."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import planning, queries

    def run(session: Session) -> list[int]:
        if from_round:
            round_ = planning.copy_chosen_contexts(session, None, task, number, from_round)
        else:
            ids = planning.draw_contexts(session, task, draw) if draw else context or []
            round_ = planning.choose_contexts(session, None, task, number, ids)
        return list(session.scalars(queries.chosen_contexts(round_.id)))

    if sum(map(bool, (context, draw, from_round))) > 1:
        raise typer.BadParameter("Give one of --context, --draw and --from-round.")
    with database() as db:
        ids = db.write(run)
    say(as_json, {"contexts": ids}, f"Round {number} of {task} works on {', '.join(map(str, ids)) or 'all contexts'}.")


@app.command("discard")
def discard_round(task: str, number: RoundNumber, as_json: AsJson = False) -> None:
    """Delete a draft of TASK."""
    from dynabench.rounds import planning

    with database() as db:
        db.write(planning.discard_draft, None, task, number)
    say(as_json, {"discarded": number}, f"Round {number} of {task} is gone.")
