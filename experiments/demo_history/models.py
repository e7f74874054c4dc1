"""The demo's models: baselines, ensembles, and models trained on released rounds by the shipped tools."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynabench.cli import training_mixes
from dynabench.kit.settings import Settings
from dynabench.models import catalog, spec
from dynabench.models.backends import linear, ngram
from dynabench.models.protocol import ModelCard
from dynabench.models.spec import Spec
from dynabench.models.training.report import listed_text
from dynabench.models.training.run import retrain
from dynabench.tasks import TaskConfig

MANTISSA_BITS = 4
"""Bits that are kept of the mantissa of trained adapters' weights, so that the archive stays small."""


def install(settings: Settings, folder: Path) -> ModelCard:
    """Move a finished model folder to where the hosts find it; return its card."""
    card = spec.card(folder)
    target = settings.folder / "models" / f"{card.name}-{card.version}"
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        part = target.with_name(f".{target.name}")
        shutil.copytree(folder, part, dirs_exist_ok=True)
        part.rename(target)
    return card


def majority(config: TaskConfig, folder: Path, label: str, name: str) -> Path:
    """Write the baseline that always gives one answer."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    details = _details(config, name, "ngram", f"A baseline that answers {label} whatever it reads.")
    bias = np.array([2.0 if option == label else 0.0 for option in details.labels])
    options = ngram.NgramOptions(bits=8, characters=None, word_grams=1, pairs=len(details.inputs) == 2)
    ngram.save(place, options, np.zeros((256, len(details.labels))), bias)
    return _finished(place, details)


def word_list(config: TaskConfig, folder: Path, name: str, words: Mapping[str, Sequence[str]], default: str) -> Path:
    """Write a baseline that counts words which speak for an answer."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    vectoriser = linear.Vectoriser(fields=[field.name for field in config.input])
    options = {"vectorisers": [vectoriser.model_dump(mode="json")], "probabilities": "softmax"}
    details = _details(config, name, "linear", "A baseline that counts words of a short list.", options)
    terms = sorted({word for some in words.values() for word in some})
    weights = np.array([[2.0 if term in words.get(label, ()) else 0.0 for label in details.labels] for term in terms])
    intercept = np.array([0.5 if label == default else 0.0 for label in details.labels])
    linear.write(place, [terms], {"weights": weights, "intercept": intercept})
    return _finished(place, details)


def ensemble(config: TaskConfig, folder: Path, name: str, members: Sequence[ModelCard], rule: str = "mean") -> Path:
    """Write a model that averages the probabilities of others, or takes their most common answer."""
    place = folder / name
    place.mkdir(parents=True, exist_ok=True)
    kind = "The average of the probabilities" if rule == "mean" else "The most common answer"
    summary = f"{kind} of {listed_text([card.name for card in members])}."
    options = {"members": [f"{card.name}@{card.version}" for card in members], "rule": rule}
    details = _details(config, name, "ensemble", summary, options)
    return _finished(place, details)


def train(
    config: TaskConfig,
    folder: Path,
    name: str,
    method: Any,
    rounds: Sequence[int],
    base: str = "",
    epochs: float | None = None,
) -> Path:
    """Train a model on released rounds, as `dynabench train --on` does."""
    place = folder / name
    mix = training_mixes.build_mix(config.id, [f"release:{config.id}/{number}" for number in rounds], [], [], None)
    origin = str(catalog.entry(base).folder) if base else ""
    retrain(mix, place, name=name, method=method, base=origin, seed=7, epochs=epochs)
    if method == "lora":
        _round_weights(place)
    return place


def _round_weights(folder: Path) -> None:
    """Round the weights of an adapter to `MANTISSA_BITS`."""
    from safetensors.numpy import load_file, save_file

    for path in folder.rglob("*.safetensors"):
        arrays = load_file(path)
        rounded = {}
        for key, array in arrays.items():
            half: Any = array.astype(np.float16).view(np.uint16).astype(np.uint32)
            drop = 10 - MANTISSA_BITS
            half = ((half + (1 << (drop - 1))) >> drop) << drop
            rounded[key] = half.astype(np.uint16).view(np.float16).astype(array.dtype)
        save_file(rounded, path)


def _details(config: TaskConfig, name: str, kind: str, summary: str, options: dict[str, Any] | None = None) -> Spec:
    inputs = [field.name for field in (*config.model_context, *config.input)]
    cards = [entry.card for entry in catalog.find([catalog.BUILTIN]) if entry.card]
    shipped = next(card for card in cards if card.task == config.id)
    return Spec(
        name=name, task=config.id, kind=kind, inputs=list(shipped.inputs or inputs), answer=shipped.answer,
        labels=list(shipped.labels), options=options or {}, languages=["en"], licence="CC0-1.0", summary=summary,
        data=[], seed=0, max_length=256,
    )  # fmt: skip


def _finished(folder: Path, details: Spec) -> Path:
    spec.write(folder, details)
    (folder / spec.README).write_text(f"# {details.name}\n\n{details.summary} Made for the demo.\n", "utf-8")
    return folder
