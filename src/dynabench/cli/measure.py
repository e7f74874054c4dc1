"""`dynabench measure`: what the data of a task's rounds are like."""

from typing import Annotated, Any

import typer

from dynabench.cli.operator import AsJson, bar, database

app = typer.Typer(help="Measure the data quality of a task's rounds.")


@app.command()
def measure(
    task: Annotated[str, typer.Argument(help="The task.")],
    number: Annotated[
        int, typer.Option("--round", min=0, help="One round; by default all, with their differences.")
    ] = 0,
    keep: Annotated[bool, typer.Option("--kept", help="Show the last results without measuring.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the data of rounds of TASK, store the results for the pages, and print them."""
    import json

    from dynabench.collection import overview
    from dynabench.insight.data_measurements import formatting, jobs, sample, service

    with database() as db:
        rounds = db.read(lambda session: overview.started(session, task)[::-1])
        if number:
            rounds = [db.read(overview.chosen_round, task, number)]
        for round_ in rounds if not keep else ():
            with bar(f"Round {round_.number}", as_json) as tell:
                jobs.measure_and_store(db, round_.id, sample.find_encoder(), tell)
        measurements = [db.read(service.round_measurements, task, round_.number, True) for round_ in rounds]
    documents: list[dict[str, Any]] = [formatting.round_document(round_) for round_ in measurements]
    if as_json:
        typer.echo(json.dumps(documents, default=str))
        return
    _print(measurements)


def _print(measurements: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    from dynabench.insight.data_measurements import formatting
    from dynabench.insight.data_measurements.measures import MEASURES

    console = Console()
    for of_round in measurements:
        console.print(
            f"\nRound {of_round.round}: {of_round.examples:,} of {of_round.total:,} examples measured", style="bold"
        )
        for name, result in of_round.results.items():
            console.print(f"\n{MEASURES[name].title}: {result.finding}", markup=False)
            table = Table("", "value", "95% interval", "n", show_edge=False)
            for figure in result.figures:
                between = formatting.format_interval(figure.low, figure.high, figure.kind)
                table.add_row(
                    figure.label,
                    formatting.format_value(figure.value, figure.kind),
                    between,
                    "" if figure.n is None else f"{figure.n:,}",
                )
            console.print(table)
    if len(measurements) > 1:
        table = Table("Across rounds", *(f"Round {of_round.round}" for of_round in measurements))
        for row in formatting.compare_rounds(measurements):
            table.add_row(
                *row[:1], *(formatting.format_value(figure.value, figure.kind) if figure else "–" for figure in row[1])
            )
        console.print(table)
