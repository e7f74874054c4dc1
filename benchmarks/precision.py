"""The shared encoder in each precision: speed for one and for 32, accuracy on the task's test set; which is default."""

import random
import statistics
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.evaluation import ROOT
from benchmarks.row import Row
from dynabench.models import catalog, runtime
from dynabench.models.backends.encoded import AdapterModel
from dynabench.models.backends.pool import Pool
from dynabench.models.training import recipes
from dynabench.models.training import rows as labelled
from dynabench.models.training.rows import TrainingRow as Labelled

PRECISIONS = ("fp32", "bf16", "int8")
TASKS = {"sentiment": "SST-3 test", "nli": "SNLI test"}
ROWS = 2210
"""Test inputs of a task: all of SST-3's, a sample of SNLI's."""
ROUNDS = 9
BUDGET = "no answer differs from fp32"


def rows() -> list[Row]:
    """All figures of this file."""
    return [row for task, name in TASKS.items() for row in _task(task, name)]


def _task(task: str, name: str) -> list[Row]:
    folder = catalog.BUILTIN / f"{task}-minilm"
    recipe = recipes.load(folder.name)
    result = list(labelled.read_source(recipe.test[0], ROOT.parent / "shared" / "data", recipe))
    test = random.Random(0).sample(result, min(ROWS, len(result)))
    models = {precision: AdapterModel.load(folder, Pool(precision)) for precision in ("exact", *PRECISIONS)}
    speeds = _speeds(models, test)
    right = {precision: _answers(model, test) for precision, model in models.items()}
    out = []
    for precision in PRECISIONS:
        chosen = precision == runtime.precision()
        differ = sum(item != other for item, other in zip(right[precision], right["exact"], strict=True))
        hits = statistics.mean(item == row.label for item, row in zip(right[precision], test, strict=True))
        note = f"{name}, n {len(test)}: {differ} answers differ{'; the default here' if chosen else ''}"
        alone, full = (speeds[size, precision] for size in (1, 32))
        subject = f"{task} in {precision}"
        out += [
            Row(f"{subject}, one input", 1000 * alone, "ms", "fp32", 1000 * speeds[1, "fp32"]),
            Row(f"{subject}, batches of 32", 32 / full, "inputs/s", "fp32", 32 / speeds[32, "fp32"]),
            Row(
                f"{subject}, accuracy",
                hits,
                "",
                budget=BUDGET if chosen else "",
                holds=not differ if chosen else None,
                note=note,
            ),
        ]
    return out


def _speeds(models: dict[str, AdapterModel], test: Sequence[Labelled]) -> dict[tuple[int, str], float]:
    """Median seconds of a call by number of inputs and precision, in turns, so that other load falls on all alike."""
    used: dict[tuple[int, str], list[float]] = {}
    for at in range(ROUNDS * 32):
        part = [row.inputs for row in test[at * 32 : at * 32 + 32]] if at < ROUNDS else [test[at].inputs]
        for precision, model in models.items():
            ask: Any = partial(model.predict, part)
            begun = time.perf_counter()
            ask()
            used.setdefault((len(part), precision), []).append(time.perf_counter() - begun)
    return {key: statistics.median(seconds[1:]) for key, seconds in used.items()}


def _answers(model: AdapterModel, test: Sequence[Labelled]) -> list[str]:
    return [str(output.answer[model.card.answer]) for output in model.predict([row.inputs for row in test])]
