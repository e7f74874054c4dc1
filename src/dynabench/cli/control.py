"""`dynabench control`: control items among what validators check, and validators' answers to them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.cli.operator import AsJson, database, say, table

if TYPE_CHECKING:
    from dynabench.stats.rates import Rate

app = typer.Typer(help="Add and list control items; show validators' accuracy on them.", no_args_is_help=True)


@app.command("add")
def add(
    task: str,
    file: Annotated[Path | None, typer.Argument(exists=True, dir_okay=False, help="CSV or JSONL.")] = None,
    decided: Annotated[int, typer.Option(help="Make gold items of so many decided examples instead.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Add the control items of FILE to TASK, or decided examples. Bad rows are listed; then the exit status is 1.

    A row has a column for each field of the task, `vote` with the right vote, and optionally `kind` (gold or
    attention).
    """
    from dynabench.validation.controls import items

    if (file is None) == (not decided):
        raise typer.BadParameter("Give either a file or --decided.")
    with database() as db:
        if file is None:
            count = db.write(items.add_decided, None, task, decided)
            say(as_json, {"created": count}, f"{count} decided examples are gold items now.")
            return
        result = db.write(items.add_file, None, task, file, file.name)
    facts = {"created": result.created, "duplicates": result.duplicates, "errors": result.errors}
    lines = [f"{result.created} items were added, {result.duplicates} were there already."]
    lines += [f"Row {number}: {reason}" for number, reason in result.errors]
    say(as_json, facts, "\n".join(lines))
    if result.errors:
        raise typer.Exit(1)


@app.command("list")
def list_all(task: str, as_json: AsJson = False) -> None:
    """List the control items of TASK with the share of right answers."""
    from dynabench.validation.controls import items

    with database() as db:
        rows = db.read(items.list_items, None, task)
    facts = [
        {
            "id": row.item.id,
            "kind": row.item.kind,
            "example": row.item.example_id,
            "text": row.text,
            "vote": row.item.right_vote,
            "retired": row.is_retired,
            "right": row.right.value,
            "n": row.right.n,
        }
        for row in rows
    ]
    table(as_json, facts, "id", "kind", "example", "vote", "right", "n", "retired", "text")


@app.command("validators")
def validators(task: str, as_json: AsJson = False) -> None:
    """Show for each validator of TASK the share of right answers, and the agreement with their own votes."""
    from dynabench.validation.controls import figures

    with database() as db:
        rows = db.read(figures.list_figures, None, task)
    facts = [
        {"id": row.person_id, "name": row.name, "right": row.measured.value, "low": row.measured.low,
         "high": row.measured.high, "n": row.measured.n, "repeat": row.repeat.value, "repeats": row.repeat.n}
        for row in rows
    ]  # fmt: skip
    lines = [f"{row.name}: right {_share(row.measured)}, same again {_share(row.repeat)}" for row in rows]
    say(as_json, facts, "\n".join(lines) or "Nobody has answered a control item yet.")


def _share(rate: "Rate") -> str:
    if rate.value is None:
        return "–"
    return f"{100 * rate.value:.0f} % ({100 * (rate.low or 0):.0f}–{100 * (rate.high or 0):.0f}, n {rate.n})"
