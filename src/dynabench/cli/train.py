"""`dynabench train`: from a recipe and a folder of data, or from a mix of sources, to model folders."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dynabench.kit.errors import Invalid

if TYPE_CHECKING:
    from dynabench.models.spec import Spec
    from dynabench.models.training.learning import Method

app = typer.Typer(help="Train a model from a recipe, or on a mix of releases and other data.")


@app.command()
def train(
    task: Annotated[str, typer.Argument(help="The task, such as `nli`, or a recipe's name, such as `nli-ngram`.")],
    out: Annotated[Path, typer.Option(help="Parent folder of the model folders.")],
    data: Annotated[Path | None, typer.Option(help="Folder of the data sets.", exists=True, file_okay=False)] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            help="SOURCE or SOURCE:WEIGHT to train on; repeatable: a release's folder, release:TASK/ROUND of this "
            "deployment, a JSON lines file, or recipe:RECIPE/SOURCE (with --data)."
        ),
    ] = None,
    dev: Annotated[
        list[str] | None, typer.Option(help="SOURCE for model selection; by default the releases' own.")
    ] = None,
    test: Annotated[
        list[str] | None, typer.Option(help="SOURCE for the final scores; by default the releases' own.")
    ] = None,
    name: Annotated[str, typer.Option(help="The model's name, for a mix; by default TASK-METHOD.")] = "",
    method: Annotated[str, typer.Option(help="Method for a mix: lora, full, head or ngram.")] = "lora",
    base: Annotated[
        str,
        typer.Option(
            help="Start of lora and full: a model's name or folder, or a hub id; for spans by default qa-minilm."
        ),
    ] = "",
    seeds: Annotated[
        str, typer.Option(help="Seeds for a mix, such as 0,1,2: one model each, and their deviation.")
    ] = "",
    patience: Annotated[
        int, typer.Option(help="Stop after this number of evaluations without improvement.", min=1)
    ] = 2,
    checkpoints: Annotated[
        Path | None, typer.Option(help="Folder of checkpoints for a mix; by default beside the model.")
    ] = None,
    recipe: Annotated[str, typer.Option(help="A recipe's name or file; by default all of the task.")] = "",
    seed: Annotated[int | None, typer.Option(help="Seed; by default the recipe's, for a mix 0.")] = None,
    minutes: Annotated[float | None, typer.Option(help="Stop training after this time.", min=0.01)] = None,
    epochs: Annotated[
        float | None, typer.Option(help="Passes over the data; by default the recipe's.", min=0.01)
    ] = None,
    threads: Annotated[int, typer.Option(help="Processor threads; 0 means one per core.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
) -> None:
    """Train a model, evaluate it, and write it with its card to OUT/NAME.

    Train from a recipe with --data, or with --on on a mix of releases and other data.
    """
    _use(threads)
    if on:
        chosen = _numbers(seeds) if seeds else [seed or 0]
        mixed = _Mixed(task, on, dev or [], test or [], data, name or f"{task}-{method}", method, base, patience)
        mixed.train(out, chosen, epochs, minutes, checkpoints, as_json)
    elif data is not None:
        _recipes(task, data, out, recipe, seed, epochs, minutes, as_json)
    else:
        raise Invalid({"data": "A recipe needs the folder of the data sets; a mix needs --on."})


def _use(threads: int) -> None:
    """Compute with so many threads, here and in what asks how many cores there are."""
    import os

    if threads:
        os.environ["OMP_NUM_THREADS"] = str(threads)
    import dynabench.models.runtime as runtime

    import torch  # isort: skip - after what it reads from the environment

    torch.set_num_threads(threads or runtime.cores())


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise Invalid({"seeds": f"{text!r} is no list of whole numbers such as 0,1,2."}) from None


class _Mixed:
    """Training on a mix, as the options say."""

    def __init__(
        self,
        task: str,
        on: Sequence[str],
        dev: Sequence[str],
        test: Sequence[str],
        data: Path | None,
        name: str,
        method: str,
        base: str,
        patience: int,
    ) -> None:
        from dynabench.cli import training_mixes
        from dynabench.models.training.learning import METHODS

        methods: dict[str, Method] = {item: item for item in METHODS}
        if method not in methods:
            raise Invalid({"method": f"One of {', '.join(METHODS)}."})
        self.method, self.name, self.patience = methods[method], name, patience
        self.base = _base(base)
        self.mix = training_mixes.build_mix(task, on, dev, test, data)

    def train(
        self,
        out: Path,
        seeds: Sequence[int],
        epochs: float | None,
        minutes: float | None,
        checkpoints: Path | None,
        as_json: bool,
    ) -> None:
        """A model for each seed; with several, the spread of their scores."""
        from dynabench.models.training import scoring as several
        from dynabench.models.training.run import retrain

        models: list[Spec] = []
        for seed in seeds:
            name = self.name if len(seeds) == 1 else f"{self.name}-{seed}"
            with _bars(name, quiet=as_json) as progress:
                details = retrain(
                    self.mix,
                    out / name,
                    name=name,
                    method=self.method,
                    base=self.base,
                    seed=seed,
                    epochs=epochs,
                    patience=self.patience,
                    minutes=minutes,
                    checkpoints=(checkpoints or out) / f".{name}.run",
                    progress=progress,
                )
            _tell(details, as_json)
            models.append(details)
        if len(models) > 1:
            for test_set, spread in several.spread_over_seeds(models).items():
                line = json.dumps({"set": test_set, **asdict(spread)})
                typer.echo(line if as_json else f"{len(models)} seeds  {test_set}: {spread.summary_line()}")


def _base(named: str) -> str:
    """A folder or hub id as it is; of an installed model its folder."""
    from dynabench.kit.errors import NotFound
    from dynabench.models import catalog

    if not named or "/" in named or Path(named).is_dir():
        return str(Path(named).expanduser().absolute()) if Path(named).expanduser().is_dir() and named else named
    try:
        return str(catalog.entry(named).folder)
    except NotFound:
        return named


def _recipes(
    task: str,
    data: Path,
    out: Path,
    recipe: str,
    seed: int | None,
    epochs: float | None,
    minutes: float | None,
    as_json: bool,
) -> None:
    """The models of a recipe, or of all recipes of the task."""
    from dynabench.models.training import recipes, run

    chosen = [recipes.load(recipe)] if recipe else recipes.recipes_of_task(task) or [recipes.load(task)]
    wrong = [recipe_.name for recipe_ in chosen if task not in (recipe_.task, recipe_.name)]
    if wrong:
        raise Invalid({"recipe": f"{', '.join(wrong)} is for another task."})
    for recipe_ in chosen:
        with _bars(recipe_.name, quiet=as_json) as progress:
            details = run.train_recipe(
                recipe_, data, out / recipe_.name, recipe_.seed if seed is None else seed, epochs, minutes, progress
            )
        _tell(details, as_json)


def _tell(details: "Spec", as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"name": details.name, "scores": details.model_dump()["scores"]}))
        return
    for name, score in details.scores.items():
        typer.echo(f"{details.name}  {name}: {score.summary_line()}")


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
