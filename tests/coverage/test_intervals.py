"""Do 95 % intervals hold the truth 95 times in 100? By drawing samples of 500 from populations whose truth is known.

`make coverage` draws 2,000 samples for each metric and wants 93 to 97 %; the suite draws fewer, with a wider band.
"""

import gzip
import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dynabench.evaluate import load
from tests.large_data import folder_with

pytestmark = pytest.mark.release
SNLI = "snli_dev_test/dev.jsonl.gz"

N = 500
Sample = dict[str, Any]
Population = tuple[Any, str, float, Callable[[np.random.Generator], Sample]]


def accuracy() -> Population:
    """Eight of ten right."""

    def draw(rng: np.random.Generator) -> Sample:
        return {"predictions": (rng.random(N) < 0.8).astype(int), "references": np.ones(N, int)}

    return load("accuracy"), "accuracy", 0.8, draw


def macro_f1() -> Population:
    """Four classes of different size, confused in different ways."""
    table = np.array([[30, 5, 3, 2], [4, 20, 5, 1], [2, 3, 12, 1], [3, 1, 2, 6]]) / 100
    hits = np.diag(table)
    truth = float((2 * hits / (table.sum(0) + table.sum(1))).mean())

    def draw(rng: np.random.Generator) -> Sample:
        cells = rng.choice(16, N, p=table.ravel())
        return {"references": cells // 4, "predictions": cells % 4}

    return load("f1", average="macro"), "f1", truth, draw


def pearson() -> Population:
    """Two normal variables that correlate with 0.6."""

    def draw(rng: np.random.Generator) -> Sample:
        x, noise = rng.standard_normal((2, N))
        return {"predictions": 0.6 * x + 0.8 * noise, "references": x}

    return load("pearsonr"), "pearsonr", 0.6, draw


def bleu() -> Population:
    """All premises and hypotheses of SNLI's development set, as if one translated the other."""
    with gzip.open(folder_with(SNLI) / SNLI, "rt") as file:
        rows = [json.loads(line) for line in file]
    hypothesis = [row["hypothesis"] for row in rows]
    right = [row["premise"] for row in rows]
    truth = load("bleu").compute(predictions=hypothesis, references=right)["bleu"]

    def draw(rng: np.random.Generator) -> Sample:
        chosen = rng.integers(0, len(rows), N)
        return {"predictions": [hypothesis[row] for row in chosen], "references": [right[row] for row in chosen]}

    return load("bleu"), "bleu", truth, draw


def held(population: Population, draws: int, resamples: int) -> Iterator[bool]:
    """Return for each sample if its interval holds the truth."""
    module, key, truth, draw = population
    for number in range(draws):
        sample = draw(np.random.default_rng([7, number]))
        result = module.compute(**sample, interval=0.95, resamples=resamples, seed=number)["interval"][key]
        yield result["low"] <= truth <= result["high"]


@pytest.mark.parametrize("population", [accuracy, macro_f1, pearson, bleu], ids=lambda first: first.__name__)
@pytest.mark.timeout(3600)
def test_95_of_100_intervals_hold_the_truth(population, draws, capsys):
    share = float(np.mean(list(held(population(), draws, 1999 if draws < 2000 else 9999))))
    with capsys.disabled():
        print(f" {population.__name__}: {share:.2%} of {draws:,}", end="")
    chance = 3 * math.sqrt(0.05 * 0.95 / draws) if draws < 2000 else 0
    assert 0.93 - chance <= share <= 0.97 + chance
