"""`dynabench round plan`, `clone`, `choose` and `discard`: when, how much, by whom and on which contexts."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dynabench.cli.operator import AsJson, database, say

app = typer.Typer()

Number = Annotated[int, typer.Argument(help="Number of the round.")]


def _document(text: str) -> dict[str, Any]:
    """The plan that an option holds, or the file that it names after an `@`."""
    from dynabench.kit import errors

    try:
        found = json.loads(Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text)
    except OSError as error:
        raise errors.Invalid({"set": f"The file cannot be read: {error.strerror}."}) from None
    except ValueError:
        raise errors.Invalid({"set": "This is not valid JSON."}) from None
    if not isinstance(found, dict):
        raise errors.Invalid({"set": "Give an object."})
    return found


@app.command("plan")
def plan_round(
    task: str,
    number: Number,
    change: Annotated[
        str, typer.Option("--set", help="Members of the plan to change, a JSON object, or @FILE; null unsets one.")
    ] = "",
    undo: Annotated[bool, typer.Option("--undo", help="Take the last change back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the plan of a round of TASK, or change it: opens_at, closes_at, goals, limits, audience, sampling, contexts.

    For example --set '{"limits": {"per_day": 20}, "closes_at": "2030-01-31T18:00:00Z"}'.
    """
    from sqlalchemy.orm import Session

    from dynabench.rounds import planning, service
    from dynabench.rounds.plan import parse

    def run(session: Session) -> dict[str, Any]:
        if undo:
            planning.undo(session, None, task, number)
        if change:
            before = planning.plan_of(service.round_of(session, task, number)).document()
            wanted = {key: value for key, value in (before | _document(change)).items() if value is not None}
            planning.change(session, None, task, number, parse(wanted))
        return planning.plan_of(service.round_of(session, task, number)).document()

    with database() as db:
        plan = db.write(run) if undo or change else db.read(run)
    said = ", ".join(f"{name}: {json.dumps(value)}" for name, value in plan.items()) or "as usual"
    say(as_json, plan, f"Round {number} of {task}: {said}.")


@app.command("clone")
def clone_round(
    task: str,
    number: Number,
    part: Annotated[
        list[str] | None,
        typer.Option(help="What to take over: arms, goals, limits, audience, contexts; by default all."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Draft a round of TASK like this one, against the same targets."""
    from dynabench.rounds import planning, views
    from dynabench.rounds.plan import PARTS

    with database() as db:
        made = db.write(
            lambda session: views.round_out(session, planning.clone(session, None, task, number, part or PARTS))
        )
    say(as_json, made.model_dump(mode="json"), f"Round {made.number} of {task} is a draft like round {number}.")


@app.command("choose")
def choose_contexts(
    task: str,
    number: Number,
    context: Annotated[list[int] | None, typer.Option(help="A context's id; give several times.")] = None,
    draw: Annotated[int, typer.Option(min=0, max=200, help="Draw this many at random instead.")] = 0,
    from_round: Annotated[int, typer.Option(help="Take over the choice of this round instead.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Let a round of TASK work on a few contexts alone; without any, on all of the task's again."""
    from sqlalchemy.orm import Session

    from dynabench.rounds import planning, queries

    def run(session: Session) -> list[int]:
        if from_round:
            of = planning.take_over(session, None, task, number, from_round)
        else:
            ids = planning.drawn(session, task, draw) if draw else context or []
            of = planning.choose(session, None, task, number, ids)
        return list(session.scalars(queries.chosen(of.id)))

    if sum(map(bool, (context, draw, from_round))) > 1:
        raise typer.BadParameter("Give one of --context, --draw and --from-round.")
    with database() as db:
        ids = db.write(run)
    say(as_json, {"contexts": ids}, f"Round {number} of {task} works on {', '.join(map(str, ids)) or 'all contexts'}.")


@app.command("discard")
def discard_round(task: str, number: Number, as_json: AsJson = False) -> None:
    """Throw a draft of TASK away."""
    from dynabench.rounds import planning

    with database() as db:
        db.write(planning.discard, None, task, number)
    say(as_json, {"discarded": number}, f"Round {number} of {task} is gone.")
