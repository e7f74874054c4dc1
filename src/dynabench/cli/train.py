"""`dynabench train`: from a recipe and a folder of data to a model folder."""

import json
from pathlib import Path
from typing import Annotated

import typer

from dynabench.errors import Invalid

app = typer.Typer(help="Train a model from a recipe.")


@app.command()
def train(
    task: Annotated[str, typer.Argument(help="The task, such as `nli`, or a recipe's name, such as `nli-ngram`.")],
    data: Annotated[Path, typer.Option(help="Folder that holds the data sets.", exists=True, file_okay=False)],
    out: Annotated[Path, typer.Option(help="Folder that the model folders are written into.")],
    recipe: Annotated[str, typer.Option(help="A recipe's name or file; by default all of the task.")] = "",
    seed: Annotated[int | None, typer.Option(help="Seed; by default the recipe's.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop training after so long.", min=0.01)] = None,
    epochs: Annotated[float | None, typer.Option(help="Passes over the data; else the recipe's.", min=0.01)] = None,
    threads: Annotated[int, typer.Option(help="Processor threads; 0 means one a core.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Train, evaluate on the development and test sets, and write the model with its card to OUT/NAME."""
    import dynabench.models.runtime as runtime
    from dynabench.models.training import recipes, run

    chosen = [recipes.load(recipe)] if recipe else recipes.of_task(task) or [recipes.load(task)]
    wrong = [one.name for one in chosen if task not in (one.task, one.name)]
    if wrong:
        raise Invalid({"recipe": f"{', '.join(wrong)} is for another task."})
    runtime.use_threads(threads or runtime.cores())
    for one in chosen:
        with _bars(one.name, quiet=as_json) as progress:
            details = run.run(one, data, out / one.name, one.seed if seed is None else seed, epochs, minutes, progress)
        if as_json:
            typer.echo(json.dumps({"name": details.name, "scores": details.model_dump()["scores"]}))
            continue
        for name, score in details.scores.items():
            typer.echo(f"{one.name}  {name}: {score.told()}")


class _bars:
    """A progress bar per stage on standard error, with the time left; nothing when `quiet`."""

    def __init__(self, name: str, quiet: bool) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._name = name
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f} %"),
            TextColumn("{task.fields[remark]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=Console(stderr=True, quiet=quiet),
        )
        self._stages: dict[str, object] = {}

    def __enter__(self) -> "_bars":
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def __call__(self, stage: str, share: float, remark: str) -> None:
        if stage not in self._stages:
            self._stages[stage] = self._bars.add_task(f"{self._name}: {stage}", total=1.0, remark="")
        self._bars.update(self._stages[stage], completed=share, remark=remark)  # type: ignore[arg-type]
