"""Training runs: by a recipe, or on a mix of rows of several sources, to a model folder with its scores and its card.

The same mix, settings, threads and libraries give the same weights, also when the run was killed and begun again."""

import hashlib
import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Conflict, Invalid, Problem
from dynabench.models import catalog, encoder, spec
from dynabench.models.training import mixing, report, rows, scoring
from dynabench.models.training.learning import (
    EXTRACTOR,
    METHODS,
    METHODS_OF_SPANS,
    Checkpoints,
    Learned,
    LearningSettings,
    Method,
    Progress,
)
from dynabench.models.training.mixing import Guarded, Mix
from dynabench.models.training.recipes import Floor, Recipe
from dynabench.models.training.report import recipe_card
from dynabench.models.training.rows import PreparedRows


@dataclass(frozen=True)
class Cost:
    """The cost of a run on a kind of device, "cpu" or "cuda"; `epochs` is 0 where the notion does not apply."""

    seconds: float
    epochs: float
    examples: int
    device: str = "cpu"


class BelowFloor(Problem):
    """A model did not reach what its recipe demands."""

    status, title = 422, "Below the floor"


def train_recipe(
    recipe: Recipe,
    data: Path,
    out: Path,
    seed: int,
    epochs: float | None = None,
    minutes: float | None = None,
    progress: Progress = lambda stage, share, remark: None,
) -> spec.Spec:
    """Train `recipe` on the data folder and write a model folder to `out`, which must be empty or absent.

    The scores are those of the written folder, loaded as the host loads it. Raises `BelowFloor`, with the folder
    kept, when a test set's score is below the recipe's floor.
    """
    if out.exists() and any(out.iterdir()):
        raise Conflict(f"{out} is not empty.")
    progress("reading", 0.0, "")
    recipe = recipe.model_copy(update={"seed": seed})
    prepared = rows.prepare(recipe, data)
    out.mkdir(parents=True, exist_ok=True)
    try:
        cost = _train(recipe, prepared, out, epochs, minutes, progress)
    except BaseException:
        shutil.rmtree(out)
        raise
    return finish(recipe, prepared, cost, out, progress)


def finish(recipe: Recipe, prepared: PreparedRows[Any], cost: Cost, out: Path, progress: Progress) -> spec.Spec:
    """Evaluate the weights in `out`, write `model.yaml` and the card, check the floors."""
    details = _spec(recipe)
    spec.write(out, details)
    if recipe.calibrate:
        scoring.calibrate(out, prepared.development, recipe.calibrate)
    model = catalog.open_model(out)
    is_single = len(prepared.development) == 1
    sets = {**({"dev": prepared.dev} if is_single else prepared.development), **prepared.tests}
    details.scores |= scoring.score_sets(model, sets, progress)
    spec.write(out, details)
    (out / spec.README).write_text(recipe_card(recipe, details, prepared, cost), encoding="utf-8")
    low = [line for name, floor in recipe.floor.items() for line in _below(name, floor, details.scores.get(name))]
    if low:
        raise BelowFloor("; ".join(low))
    return details


def _below(name: str, floor: Floor, score: spec.LabelScore | spec.SpanScore | None) -> list[str]:
    if score is None:
        return [f"{name}: the set has a floor and no rows"]
    figures, spoken = score.model_dump(), {"accuracy": "accuracy", "macro_f1": "macro F1", "f1": "F1"}
    return [
        f"{name}: {spoken[kind]} {figures[kind]} is below {least}"
        for kind, least in floor.model_dump(exclude_none=True).items()
        if figures[kind] < least
    ]


def _train(
    recipe: Recipe,
    prepared: PreparedRows[Any],
    out: Path,
    epochs: float | None,
    minutes: float | None,
    progress: Progress,
) -> Cost:
    from dynabench.models.training import linear

    def report(share: float, loss: float) -> None:
        progress("training", share, f"loss {loss:.3f}")

    if recipe.kind == "ngram":
        started = time.monotonic()
        weights, bias = linear.train(recipe, prepared.train, report)
        seconds = time.monotonic() - started
        from dynabench.models.backends.ngram import save

        save(out, linear.options(recipe.ngram), linear.prune(weights, recipe.ngram.keep), bias)
        return Cost(seconds, 0.0, len(prepared.train))
    from dynabench.models.training import adapter

    trained = adapter.train(recipe, prepared.train, recipe.seed, adapter.TrainingLimits(epochs, minutes), report)
    adapter.save(trained, out)
    return Cost(trained.seconds, trained.epochs, trained.examples, adapter.device().type)


def _spec(recipe: Recipe) -> spec.Spec:
    return spec.Spec(
        name=recipe.name,
        task=recipe.task,
        kind=recipe.kind,
        inputs=recipe.inputs,
        answer=recipe.answer,
        labels=recipe.labels,
        languages=recipe.languages,
        licence=recipe.licence,
        summary=recipe.summary,
        data=[source.name for source in recipe.train],
        seed=recipe.seed,
        max_length=recipe.max_length,
    )


RECORD = "training.json"
"""What a model was trained on and how, for programs; the card is for people."""
_LEARNERS = {"ngram": "linear", "head": "head", "lora": "descent", "full": "descent"}


def retrain(
    mix: Mix,
    out: Path,
    *,
    name: str,
    method: Method = "lora",
    base: str = "",
    seed: int = 0,
    epochs: float | None = None,
    patience: int = 2,
    minutes: float | None = None,
    checkpoints: Path | None = None,
    progress: Progress = lambda stage, share, remark: None,
) -> spec.Spec:
    """Train on `mix` and write the model folder `out`; where it holds this very model already, nothing is done.

    Without a `base` labels are learnt from the shared encoder on, spans from the shipped extractor on. A run that was
    killed goes on from `checkpoints`. Raises `Invalid` for what cannot be learnt so, `Conflict` when
    `out` holds something else, `NotFound` or `Unavailable` for a base that is not there.
    """
    first = str(catalog.BUILTIN / EXTRACTOR) if mix.spans else encoder.HUB_ID
    settings = LearningSettings(method, base or first, seed, epochs, patience, minutes)
    _check(settings, mix)
    progress("reading", 0.0, "")
    ready = mixing.guarded(mix, seed)
    run = _run(ready, settings, name)
    checkpoint = Checkpoints(checkpoints, run)
    if (details := _finished(out, run)) is not None:
        checkpoint.clear()
        return details
    part = out.with_name(f".{out.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        learner = import_module(f"dynabench.models.training.{'descent' if mix.spans else _LEARNERS[method]}")
        learned: Learned = learner.learn(ready.mix, settings, part, checkpoint, progress)
        details = _described(ready, settings, learned, name, run, part, progress)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    if out.exists():
        out.rmdir()
    part.rename(out)
    checkpoint.clear()
    return details


def _check(settings: LearningSettings, mix: Mix) -> None:
    if settings.method not in METHODS:
        raise Invalid({"method": f"One of {', '.join(METHODS)}."})
    if settings.patience < 1:
        raise Invalid({"patience": "One evaluation without a better one is the least."})
    if settings.epochs is not None and settings.epochs <= 0:
        raise Invalid({"epochs": "More than none."})
    if mix.spans and settings.method not in METHODS_OF_SPANS:
        raise Invalid({"method": f"Spans are learnt by {' or '.join(METHODS_OF_SPANS)}."})
    if settings.method in ("head", "ngram") and not settings.shared and not mix.spans:
        raise Invalid({"base": f"{settings.method} has no other base; take lora or full."})


def _run(ready: Guarded, settings: LearningSettings, name: str) -> str:
    """The SHA-256 of everything that decides what is written."""
    chosen = json.dumps(asdict(settings) | {"base": settings.origin})
    return hashlib.sha256(f"{name}\n{chosen}\n{ready.digest()}".encode()).hexdigest()


def _finished(out: Path, run: str) -> spec.Spec | None:
    """The model of this very run, if it lies there; raises `Conflict` for anything else."""
    if not out.exists() or (out.is_dir() and not any(out.iterdir())):
        return None
    try:
        if json.loads((out / RECORD).read_text(encoding="utf-8"))["run"] == run:
            return spec.read(out)
    except (OSError, ValueError, KeyError):
        pass
    raise Conflict(f"{out} is not empty.")


def _described(
    ready: Guarded, settings: LearningSettings, learned: Learned, name: str, run: str, folder: Path, progress: Progress
) -> spec.Spec:
    """Score the weights in the folder as the host loads them, and write `model.yaml`, the record and the card."""
    mix = ready.mix
    details = spec.Spec(
        name=name,
        task=mix.task,
        kind=learned.kind,
        inputs=list(mix.inputs),
        answer=mix.answer,
        labels=list(mix.labels),
        options=learned.options,
        languages=list(mix.languages),
        licence=report.licence(mix, settings),
        summary=report.mix_summary(mix, settings),
        data=[part.name for part in mix.parts],
        seed=settings.seed,
        max_length=mix.max_length,
    )
    record = report.record(ready, settings, learned) | {"run": run}
    (folder / RECORD).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    spec.write(folder, details)
    details.scores.update(_scores(mix, folder, progress))
    spec.write(folder, details)
    (folder / spec.README).write_text(report.mix_card(details, ready, settings, learned), encoding="utf-8")
    return details


def _scores(mix: Mix, folder: Path, progress: Progress) -> Mapping[str, spec.LabelScore | spec.SpanScore]:
    model = catalog.open_model(folder)
    try:
        return scoring.score_sets(model, {"dev": mix.dev, **mix.tests}, progress)
    finally:
        model.close()  # type: ignore[attr-defined]
