"""The script of each task: rounds with their targets and sizes, baselines, and the models trained in between."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dynabench.models import catalog
from dynabench.tasks import TaskConfig
from experiments.demo_history import claims, models
from experiments.demo_history.claims import ClaimBank

MakeModel = Callable[[TaskConfig, Path, str], Path]
RELEASE = {
    "train": 0.45, "dev": 0.1, "test": 0.45, "hidden": 0.0, "disjoint": ["contexts"], "near_duplicate": 0.5,
}  # fmt: skip
"""Rounds of the demo are small: a larger part than usual is tested on."""


@dataclass(frozen=True)
class RoundScript:
    """A round: its targets by name, when it ends, and the models that are trained once it is released."""

    targets: tuple[str, ...]
    verified: int
    most: int
    days: int
    trained: Mapping[str, MakeModel] = field(default_factory=dict)


@dataclass(frozen=True)
class TaskScript:
    """A task's history."""

    bank: Callable[[], ClaimBank]
    rounds: tuple[RoundScript, ...]
    baselines: Mapping[str, MakeModel]
    context_field: str = ""
    release: dict[str, Any] = field(default_factory=lambda: dict(RELEASE))
    replacements: tuple[tuple[str, str], ...] = ()

    def source(self, shipped: str) -> str:
        """The config that the demo's released rounds were collected with."""
        for old, new in self.replacements:
            assert old in shipped, old
            shipped = shipped.replace(old, new)
        return shipped


def trained(method: str, *rounds: int, base: str = "", epochs: float | None = None) -> MakeModel:
    """Return the maker of a model that is trained on some rounds."""

    def make(config: TaskConfig, folder: Path, name: str) -> Path:
        return models.train(config, folder, name, method, rounds, base, epochs)

    return make


def always(label: str) -> MakeModel:
    """Return the maker of a baseline with one answer."""
    return lambda config, folder, name: models.majority(config, folder, label, name)


def mean_of(*names: str) -> MakeModel:
    """Return the maker of an ensemble of installed models."""

    def make(config: TaskConfig, folder: Path, name: str) -> Path:
        cards = [card for member in names if (card := catalog.entry(member).card)]
        return models.ensemble(config, folder, name, cards)

    return make


def vote_of(*names: str) -> MakeModel:
    """Return the maker of a model that gives the most common answer of installed models."""

    def make(config: TaskConfig, folder: Path, name: str) -> Path:
        cards = [card for member in names if (card := catalog.entry(member).card)]
        return models.ensemble(config, folder, name, cards, "vote")

    return make


def words(by_label: dict[str, list[str]], default: str) -> MakeModel:
    """Return the maker of a baseline that counts words."""
    return lambda config, folder, name: models.word_list(config, folder, name, by_label, default)


BLIND = ("  mode: judge\n", "  mode: mixed\n  blind_share: 0.5\n")
CHECK_ALL = ("  also_not_fooled: false\n", "  also_not_fooled: true\n")
PRAISE = ("good great excellent wonderful love loved best brilliant superb happy enjoy perfect beautiful glad "
          "recommend worth fresh delighted grateful lovely better").split()  # fmt: skip
BLAME = ("bad worst terrible awful dreadful hate hated boring poor disappointed waste broken dull horrible regret lost "
         "complain wrong disaster failed disgrace").split()  # fmt: skip

INSULTS = "hate stupid idiots kill dirty disgusting women foreigners muslims jews immigrants gypsy black gay".split()
OPEN_DAYS = 9
RELEASE_ONCE = RELEASE | {"disjoint": []}

SCRIPTS = {
    "sentiment": TaskScript(
        bank=lambda: claims.statement_bank("sentiment"),
        rounds=(
            RoundScript(("sentiment-ngram",), 62, 150, 19, {
                "sentiment-ngram-r1": trained("ngram", 1),
            }),
            RoundScript(("sentiment-minilm",), 62, 150, 22, {
                "sentiment-adapter-r2": trained("lora", 1, 2, base="sentiment-minilm", epochs=6),
                "sentiment-head-r2": trained("head", 1, 2),
            }),
            RoundScript(("sentiment-adapter-r2",), 62, 190, 24, {
                "sentiment-pair": mean_of("sentiment-minilm", "sentiment-adapter-r2"),
            }),
            RoundScript(("sentiment-minilm",), 400, 40, OPEN_DAYS),
        ),
        baselines={
            "sentiment-always-negative": always("negative"),
            "sentiment-word-list": words({"positive": PRAISE, "negative": BLAME}, "neutral"),
        },
    ),
    "nli": TaskScript(
        bank=claims.nli_bank,
        context_field="premise",
        replacements=(BLIND, CHECK_ALL),
        rounds=(
            RoundScript(("nli-ngram",), 62, 150, 20, {"nli-head-r1": trained("head", 1)}),
            RoundScript(("nli-minilm",), 62, 150, 22, {
                "nli-adapter-r2": trained("lora", 1, 2, base="nli-minilm", epochs=6),
            }),
            RoundScript(("nli-adapter-r2",), 62, 150, 24, {"nli-pair": mean_of("nli-minilm", "nli-adapter-r2")}),
            RoundScript(("nli-minilm",), 400, 40, OPEN_DAYS),
        ),
        baselines={"nli-always-neutral": always("neutral")},
    ),
    "qa": TaskScript(
        bank=claims.qa_bank,
        context_field="passage",
        replacements=(BLIND, CHECK_ALL),
        rounds=(
            RoundScript(("qa-minilm",), 55, 150, 26, {
                "qa-head-r1": trained("head", 1, epochs=2), "qa-adapter-r1": trained("lora", 1, epochs=2),
                "qa-vote": vote_of("qa-minilm", "qa-head-r1", "qa-adapter-r1"),
            }),
            RoundScript(("qa-minilm",), 400, 36, OPEN_DAYS),
        ),
        baselines={},
    ),
    "hate": TaskScript(
        bank=lambda: claims.statement_bank("hate"),
        release=RELEASE_ONCE,
        rounds=(
            RoundScript(("hate-minilm",), 40, 85, 22, {
                "hate-ngram-r1": trained("ngram", 1), "hate-head-r1": trained("head", 1),
                "hate-pair": mean_of("hate-minilm", "hate-ngram"),
            }),
            RoundScript(("hate-minilm",), 400, 24, OPEN_DAYS),
        ),
        baselines={
            "hate-never": always("not-hateful"),
            "hate-word-list": words({"hateful": INSULTS}, "not-hateful"),
        },
    ),
}  # fmt: skip
