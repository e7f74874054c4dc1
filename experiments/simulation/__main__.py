"""The command line: `python -m experiments.simulation nli sentiment --data DATA --folder FOLDER`."""

import json
import os
import time
from pathlib import Path
from typing import Annotated

import typer

from dynabench.kit.errors import Problem
from experiments.simulation.text_vectors import ProgressCallback

app = typer.Typer(add_completion=False)


@app.command()
def simulate(
    tasks: Annotated[list[str], typer.Argument(help="Tasks with a pool and a suite: nli, sentiment.")],
    data: Annotated[Path, typer.Option(help="Folder that holds the data sets.", exists=True, file_okay=False)],
    folder: Annotated[Path, typer.Option(help="Folder for finished rounds; a later run continues from them.")],
    rounds: Annotated[int, typer.Option(help="Number of rounds.", min=1)] = 20,
    seeds: Annotated[int, typer.Option(help="Repetitions with other splits and random choices.", min=1)] = 3,
    examples: Annotated[int, typer.Option("--each", help="New training examples of each arm in a round.", min=1)] = 60,
    test_examples: Annotated[
        int, typer.Option("--each-test", help="Examples of a round that later models are tested on.", min=1)
    ] = 20,
    start: Annotated[int, typer.Option(help="Rows that the first target is trained on.", min=10)] = 300,
    test: Annotated[int, typer.Option(help="Test rows, drawn at random from the pool.", min=20)] = 2000,
    development: Annotated[int, typer.Option(help="Rows that choose the head's penalty.", min=10)] = 600,
    later: Annotated[int, typer.Option(help="Rows from which the rounds' test examples are chosen.", min=1)] = 2000,
    tries: Annotated[int, typer.Option(help="Tries of an adversary before it gives up.", min=1)] = 5,
    pool: Annotated[str, typer.Option(help="A YAML file with another pool, for one task.")] = "",
    suite: Annotated[str, typer.Option(help="Another suite: a name or a YAML file, for one task.")] = "",
    method: Annotated[str, typer.Option(help="What is trained: heads on frozen vectors, or lora adapters.")] = "heads",
    arms: Annotated[str, typer.Option(help="Arms, such as random,adversarial,fixed; all by default.")] = "",
    candidates: Annotated[int, typer.Option(help="Largest number of rows to choose from; 0: all.", min=0)] = 0,
    report: Annotated[Path | None, typer.Option(help="Write a report to this file, with its charts beside it.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Answer in JSON.")] = False,
) -> None:
    """Simulate rounds of TASKS without people.

    Programs choose examples from a pool with known answers: adversaries those that fool the model, the other arms in
    other ways, equal numbers each. Finished rounds are stored: the same command continues a run that was killed. Before
    each model the command prints an estimate of the remaining time.
    """
    import dynabench.models.runtime  # noqa: F401  before torch
    from experiments.simulation import experiment
    from experiments.simulation.plan import ARMS, ExperimentPlan

    chosen_arms = tuple(part.strip() for part in arms.split(",")) if arms else tuple(ARMS)
    sizes = (rounds, seeds, examples, test_examples, start, test, development, later, tries)
    try:
        plans = [ExperimentPlan(task, *sizes, pool, suite, method, chosen_arms, candidates) for task in tasks]
        results = [
            experiment.run_experiment(plan, data, folder, _progress_printer(plan.task, as_json)) for plan in plans
        ]
    except Problem as problem:
        typer.echo(f"{problem.title}: {problem.detail}", err=True)
        raise typer.Exit(1) from None
    if report is not None:
        experiment.write_report(results, report)
    if as_json:
        typer.echo(json.dumps([result.figures for result in results]))
        return
    for result in results:
        for sentence in result.sentences:
            typer.echo(f"{result.plan.task}: {sentence}")


def _progress_printer(task: str, quiet: bool) -> ProgressCallback:
    """A callback that prints each step on standard error, with the seconds since the start."""
    start = time.monotonic()

    def print_progress(step: str, share: float) -> None:
        if not quiet:
            typer.echo(f"{time.monotonic() - start:7.0f} s  {task}: {step}, {share:.0%}", err=True)

    return print_progress


if __name__ == "__main__":
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    app()
