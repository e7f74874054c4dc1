"""One training run: data, weights, scores of the written folder, card."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from dynabench.kit.errors import Conflict, Problem
from dynabench.models import catalog, spec
from dynabench.models.training import ngram, questions, rows, scoring
from dynabench.models.training.recipes import Floor, Recipe
from dynabench.models.training.report import recipe_card
from dynabench.models.training.rows import Prepared

Progress = Callable[[str, float, str], None]
"""Called with the stage's name, the share of it done, and a remark."""


@dataclass(frozen=True)
class Cost:
    """The cost of a run; `epochs` is 0 where the notion does not apply."""

    seconds: float
    epochs: float
    examples: int


class BelowFloor(Problem):
    """A model did not reach what its recipe demands."""

    status, title = 422, "Below the floor"


def run(
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
    prepared: Prepared[Any] = (questions if recipe.kind == "extractor" else rows).prepare(recipe, data)
    out.mkdir(parents=True, exist_ok=True)
    try:
        cost = _train(recipe, prepared, out, epochs, minutes, progress)
    except BaseException:
        shutil.rmtree(out)
        raise
    return finish(recipe, prepared, cost, out, progress)


def finish(recipe: Recipe, prepared: Prepared[Any], cost: Cost, out: Path, progress: Progress) -> spec.Spec:
    """Evaluate the weights in `out`, write `model.yaml` and the card, check the floors."""
    details = _spec(recipe)
    spec.write(out, details)
    if recipe.calibrate:
        scoring.calibrate(out, prepared.development, recipe.calibrate)
    model = catalog.open_model(out)
    one = len(prepared.development) == 1
    sets = {**({"dev": prepared.dev} if one else prepared.development), **prepared.tests}
    for name, part in sets.items():
        score = questions.score_questions if recipe.kind == "extractor" else scoring.score
        details.scores[name] = score(model, part, partial(_bare, progress, name))
    spec.write(out, details)
    (out / spec.README).write_text(recipe_card(recipe, details, prepared, cost), encoding="utf-8")
    low = [line for name, floor in recipe.floor.items() for line in _below(name, floor, details.scores[name])]
    if low:
        raise BelowFloor("; ".join(low))
    return details


def _below(name: str, floor: Floor, score: spec.Score | spec.SpanScore) -> list[str]:
    figures, spoken = score.model_dump(), {"accuracy": "accuracy", "macro_f1": "macro F1", "f1": "F1"}
    return [
        f"{name}: {spoken[kind]} {figures[kind]} is below {least}"
        for kind, least in floor.model_dump(exclude_none=True).items()
        if figures[kind] < least
    ]


def _bare(progress: Progress, stage: str, share: float) -> None:
    progress(stage, share, "")


def _train(
    recipe: Recipe, prepared: Prepared[Any], out: Path, epochs: float | None, minutes: float | None, progress: Progress
) -> Cost:
    def report(share: float, loss: float) -> None:
        progress("training", share, f"loss {loss:.3f}")

    if recipe.kind == "ngram":
        started = time.monotonic()
        weights, bias = ngram.train(recipe, prepared.train, report)
        seconds = time.monotonic() - started
        from dynabench.models.backends.ngram import save

        save(out, ngram.options(recipe.ngram), ngram.prune(weights, recipe.ngram.keep), bias)
        return Cost(seconds, 0.0, len(prepared.train))
    from dynabench.models.training import adapter

    trained = adapter.train(recipe, prepared.train, recipe.seed, adapter.Limits(epochs, minutes), report)
    adapter.save(trained, out)
    return Cost(trained.seconds, trained.epochs, trained.examples)


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
