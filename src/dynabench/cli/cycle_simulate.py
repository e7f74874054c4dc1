"""`dynabench cycle simulate`: many rounds without people, beside control arms."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from dynabench.cli.operator import AsJson


def simulate(
    tasks: Annotated[list[str], typer.Argument(help="Tasks with a pool and a suite: nli, sentiment.")],
    data: Annotated[Path, typer.Option(help="Folder that holds the data sets.", exists=True, file_okay=False)],
    folder: Annotated[Path, typer.Option(help="Where rounds are kept; run again, the command goes on from there.")],
    rounds: Annotated[int, typer.Option(help="Rounds.", min=1)] = 20,
    seeds: Annotated[int, typer.Option(help="Seeds: repetitions with other splits and draws.", min=1)] = 3,
    each: Annotated[int, typer.Option(help="New training examples of each arm in a round.", min=1)] = 60,
    each_test: Annotated[int, typer.Option(help="Examples of a round kept for testing later models.", min=1)] = 20,
    start: Annotated[int, typer.Option(help="Rows that the first target is trained on.", min=10)] = 300,
    test: Annotated[int, typer.Option(help="Test rows, drawn like the pool.", min=20)] = 2000,
    development: Annotated[int, typer.Option(help="Rows that choose the head's penalty.", min=10)] = 600,
    later: Annotated[int, typer.Option(help="Rows from which test parts of rounds are chosen.", min=1)] = 2000,
    tries: Annotated[int, typer.Option(help="Tries of an adversary before giving up.", min=1)] = 5,
    pool: Annotated[str, typer.Option(help="A YAML file with another pool, for one task.")] = "",
    suite: Annotated[str, typer.Option(help="Another suite: a name or a YAML file, for one task.")] = "",
    method: Annotated[str, typer.Option(help="What is trained: heads on frozen vectors, or lora adapters.")] = "heads",
    arms: Annotated[str, typer.Option(help="Arms, as random,adversarial,fixed; by default all.")] = "",
    candidates: Annotated[int, typer.Option(help="At most so many rows to choose from; 0: all.", min=0)] = 0,
    report: Annotated[Path | None, typer.Option(help="Write a report, with its figures beside it.")] = None,
    as_json: AsJson = False,
) -> None:
    """Run rounds of TASKS without people: adversaries choose from a pool whose answers are known, and so do arms that
    they are compared with, as many examples each. Every round is kept: killed at any moment, the same command goes on.
    How long it takes is said from the first model on, and again before each.
    """
    import json

    import dynabench.models.runtime  # noqa: F401  before torch
    from dynabench.cycle.simulation import experiment
    from dynabench.cycle.simulation.plan import ARMS, Plan

    chosen = tuple(part.strip() for part in arms.split(",")) if arms else tuple(ARMS)
    sizes = (rounds, seeds, each, each_test, start, test, development, later, tries)
    plans = [Plan(task, *sizes, pool, suite, method, chosen, candidates) for task in tasks]
    found = [experiment.run(plan, data, folder, _teller(plan.task, as_json)) for plan in plans]
    if report is not None:
        experiment.report(found, report)
    if as_json:
        typer.echo(json.dumps([each.results for each in found]))
        return
    for each_found in found:
        for sentence in each_found.sentences:
            typer.echo(f"{each_found.plan.task}: {sentence}")


def _teller(task: str, quiet: bool) -> Any:
    """Tells each step once, on standard error, with the seconds since the start."""
    began = time.monotonic()

    def tell(step: str, share: float) -> None:
        if not quiet:
            typer.echo(f"{time.monotonic() - began:7.0f} s  {task}: {step}, {share:.0%}", err=True)

    return tell
