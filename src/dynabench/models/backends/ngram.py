"""A linear model over hashed n-grams: no torch, microseconds an answer, attributions that are exact."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.backends import features
from dynabench.models.backends.base import Backend, Prepared, output
from dynabench.models.backends.features import Features, Options
from dynabench.models.protocol import Attribution, Card, Inputs, Output, WordWeight

WEIGHTS, OPTIONS = "ngram.safetensors", "ngram.json"


class Stored(BaseModel):
    """The content of `ngram.json`: the options of the features."""

    model_config = ConfigDict(extra="forbid")

    bits: int = Field(ge=8, le=22)
    characters: tuple[int, int] | None
    word_grams: int = Field(ge=1, le=3)
    pairs: bool


class NgramModel:
    """Softmax of `features @ weights + bias`; `weights` is (2**bits, labels), `bias` (labels,)."""

    lane = "ngram"
    room: int | None = None

    def __init__(
        self, card: Card, options: Options, weights: NDArray[np.floating[Any]], bias: NDArray[np.floating[Any]]
    ) -> None:
        self.card = card
        self.options = options
        self._weights = weights
        self._bias = bias

    @classmethod
    def load(cls, folder: Path) -> "NgramModel":
        """Load a model folder; raises `Invalid` when it is broken."""
        card = spec.card(folder)
        try:
            stored = Stored.model_validate_json((folder / OPTIONS).read_text(encoding="utf-8"))
            arrays = load_file(folder / WEIGHTS)
            weights, bias = arrays["weights"].astype(np.float32), arrays["bias"].astype(np.float64)
        except (OSError, ValueError, ValidationError, SafetensorError, KeyError) as error:
            raise Invalid({"ngram": f"The weights cannot be loaded: {error}"}) from error
        wanted = (1 << stored.bits, len(card.labels))
        if weights.shape != wanted or bias.shape != wanted[1:] or stored.pairs != (len(card.inputs) == 2):
            raise Invalid({"ngram": f"The weights are {weights.shape} where the card asks for {wanted}."})
        if not (np.isfinite(weights).all() and np.isfinite(bias).all()):
            raise Invalid({"ngram": "The weights are no finite numbers; the training diverged."})
        return cls(card, Options(**stored.model_dump()), weights, bias)

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> "NgramModel":
        """Load a model folder; many inputs take no other way than one."""
        return cls.load(folder)

    def close(self) -> None:
        """Nothing is held but memory."""

    def prepare(self, inputs: Inputs) -> Features:
        """The features of the inputs' fields."""
        wrong = {name: "A text is needed here." for name in self.card.inputs if not isinstance(inputs.get(name), str)}
        if wrong:
            raise Invalid(wrong)
        return features.extract([inputs[name] for name in self.card.inputs], self.options)

    def logits(self, found: Features) -> NDArray[np.float64]:
        """Logits (labels,)."""
        return np.asarray(self._bias + found.value @ self._weights[found.index])

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[Output]:
        """Answers to calls of any n-gram models."""
        return [output(call.card, call.logits(found)) for call, found in calls if isinstance(call, NgramModel)]

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output per input, in order."""
        return self.answer([(self, self.prepare(inputs)) for inputs in batch])

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Each word's share of the label's logit minus the mean of the other labels' logits.

        The baseline is a text without words, where only the bias speaks; the shares add up exactly.
        """
        if label not in self.card.labels:
            raise Invalid({"label": f"One of {', '.join(self.card.labels)}."})
        if method not in self.card.methods:
            raise Invalid({"method": f"One of {', '.join(self.card.methods)}."})
        found = self.prepare(inputs)
        contrast = np.full(len(self.card.labels), -1 / (len(self.card.labels) - 1))
        contrast[self.card.labels.index(label)] = 1.0
        sums = features.by_word(found, np.asarray(self._weights[found.index], float) @ contrast)
        difference = float((self.logits(found) - self._bias) @ contrast)
        error = abs(float(sums.sum()) - difference) / max(abs(difference), 1e-6)
        return Attribution("exact", label, _fields(found, self.card.inputs, sums), round(error, 6))


def save(folder: Path, options: Options, weights: NDArray[np.floating[Any]], bias: NDArray[np.floating[Any]]) -> None:
    """Write the weights in half precision and the options; sizes are 2 * 2**bits * labels bytes."""
    stored = Stored(
        bits=options.bits, characters=options.characters, word_grams=options.word_grams, pairs=options.pairs
    )
    (folder / OPTIONS).write_text(stored.model_dump_json(indent=1) + "\n", encoding="utf-8")
    save_file({"weights": weights.astype(np.float16), "bias": bias.astype(np.float32)}, folder / WEIGHTS)


def _fields(found: Features, names: Sequence[str], sums: NDArray[np.float64]) -> dict[str, list[WordWeight]]:
    shares = iter(sums / (float(np.abs(sums).max(initial=0.0)) or 1.0))
    return {
        name: [WordWeight(word.text, word.start, word.end, float(next(shares))) for word in words]
        for name, words in zip(names, found.words, strict=True)
    }
