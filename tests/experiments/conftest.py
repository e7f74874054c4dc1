"""A small pool with known answers, and an experiment of two rounds on it."""

import gzip
import json
import random
from pathlib import Path

import pytest

from experiments.simulation import experiment
from experiments.simulation.plan import ExperimentPlan

GOOD = ["gorgeous", "tender", "witty", "radiant", "delightful", "masterly"]
BAD = ["clumsy", "stale", "tedious", "shallow", "bloated", "lifeless"]
PLAIN = ["weekly", "printed", "northern", "wooden", "annual", "municipal"]
NOUNS = (
    "harvest lantern orchard ferry violin glacier market pepper saddle tunnel quilt cactus anchor beetle cinema dragon "
    "engine fossil garden hammer island jacket kettle ladder mirror needle oyster parrot quarry ribbon salmon temple"
).split()
VERBS = "carries follows studies gathers borrows measures paints repairs welcomes compares photographs forgets".split()
POOL = """
name: tiny
task: sentiment
kind: adapter
summary: Made for a test.
inputs: [statement]
labels: [negative, neutral, positive]
licence: none
limits: none
train: [{name: generated, files: [generated.jsonl.gz], columns: {statement: text}}]
test: []
"""


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pool")
    draw = random.Random(5)
    words = {"positive": GOOD, "negative": BAD, "neutral": PLAIN}
    with gzip.open(folder / "generated.jsonl.gz", "wt") as file:
        for _ in range(420):
            label = draw.choice(list(words))
            first_word = draw.choice(words[label] if draw.random() < 0.8 else NOUNS)
            first, second, third, fourth = draw.sample(NOUNS, 4)
            text = (
                f"{first_word} {first} {draw.choice(VERBS)} the {second} {third}, says {fourth} {draw.randrange(999)}"
            )
            file.write(json.dumps({"text": text, "label": label}) + "\n")
    (folder / "pool.yaml").write_text(POOL)
    return folder


@pytest.fixture(scope="session")
def plan(data: Path) -> ExperimentPlan:
    return ExperimentPlan(
        "sentiment", rounds=2, seeds=2, examples=12, test_examples=6, start=40, test=80, development=40, later=70,
        pool=str(data / "pool.yaml"),
    )  # fmt: skip


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("simulated")


@pytest.fixture(scope="session")
def result(plan: ExperimentPlan, data: Path, folder: Path) -> experiment.ExperimentResult:
    return experiment.run_experiment(plan, data, folder, lambda *_: None)
