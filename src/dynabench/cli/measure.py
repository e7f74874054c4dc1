"""`dynabench measure`: what the data of a task's rounds are like."""

from typing import Annotated, Any

import typer

from dynabench.cli.operator import AsJson, bar, database

app = typer.Typer(help="Say what the data of a task's rounds are like.")


@app.command()
def measure(
    task: Annotated[str, typer.Argument(help="The task.")],
    number: Annotated[int, typer.Option("--round", min=0, help="One round; by default all, and how they differ.")] = 0,
    keep: Annotated[bool, typer.Option("--kept", help="Show what was measured last; measure nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure rounds of TASK, keep what was found for the pages, and print it."""
    import json

    from dynabench.collection import overview
    from dynabench.measuring import embedding, running, service, written

    with database() as db:
        found = db.read(lambda session: overview.started(session, task)[::-1])
        if number:
            found = [db.read(overview.chosen_round, task, number)]
        for each in found if not keep else ():
            with bar(f"Round {each.number}", as_json) as tell:
                running.measure(db, each.id, embedding.embed(), tell)
        shown = [db.read(service.shown, task, each.number, True) for each in found]
    told: list[dict[str, Any]] = [written.document(each) for each in shown]
    if as_json:
        typer.echo(json.dumps(told, default=str))
        return
    _print(shown)


def _print(shown: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    from dynabench.measuring import written
    from dynabench.measuring.measures import measures

    console = Console()
    for each in shown:
        console.print(f"\nRound {each.round}: {each.examples:,} of {each.total:,} examples measured", style="bold")
        for name, found in each.found.items():
            console.print(f"\n{measures()[name].TITLE}: {found.finding}", markup=False)
            table = Table("", "value", "95% interval", "n", show_edge=False)
            for one in found.figures:
                between = written.between(one.low, one.high, one.kind)
                table.add_row(
                    one.label, written.value(one.value, one.kind), between, "" if one.n is None else f"{one.n:,}"
                )
            console.print(table)
    if len(shown) > 1:
        table = Table("Between rounds", *(f"Round {each.round}" for each in shown))
        for row in written.across(shown):
            table.add_row(*row[:1], *(written.value(one.value, one.kind) if one else "–" for one in row[1]))
        console.print(table)
