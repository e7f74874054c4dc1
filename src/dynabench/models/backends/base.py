"""The interface of backends, and the base class of backends whose models share no batch."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dynabench.kit.errors import Invalid
from dynabench.models import validity
from dynabench.models.protocol import (
    LARGEST,
    Attributable,
    Attribution,
    Inputs,
    ModelCard,
    ModelOutput,
    WordWeight,
    explained,
)
from dynabench.models.validity import Broken
from dynabench.models.words import Word

Prepared = Any
"""What a backend makes of inputs; its `len()` is the cost that batches are bucketed by."""


@runtime_checkable
class Backend(Attributable, Protocol):
    """A model whose calls can share a batch with calls to other models of its lane."""

    lane: str
    room: int | None
    """Summed `len()` of the calls of one batch at most; None leaves it to their number."""

    def prepare(self, inputs: Inputs) -> Sized:
        """Read the inputs into what the model computes on; raises `Invalid` for inputs it cannot read."""
        ...

    def answer(self, calls: Sequence[tuple["Backend", Prepared]]) -> list[ModelOutput]:
        """One output per call, in order; the calls are to models of this lane, possibly several."""
        ...


def softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Probabilities along the last axis."""
    shifted = np.asarray(logits, float) - np.max(logits, -1, keepdims=True)
    odds = np.exp(shifted)
    return np.asarray(odds / odds.sum(-1, keepdims=True))


def output(card: ModelCard, logits: NDArray[np.floating[Any]]) -> ModelOutput:
    """The answer that logits (labels,) mean: the likeliest label, the first of equals.

    Raises `Broken` for logits that are no finite numbers, as of a training that diverged.
    """
    if not np.isfinite(logits).all():
        raise Broken(f"{card.name} computed numbers that are not finite for this input; train it again.")
    probabilities = softmax(logits)
    best = int(np.argmax(probabilities))
    return ModelOutput(
        {card.answer: card.labels[best]},
        {label: round(float(p), 6) for label, p in zip(card.labels, probabilities, strict=True)},
    )


LONGEST = 100_000
"""Characters of a text that a model is given."""


@dataclass(frozen=True)
class CheckedInputs:
    """Inputs that were looked at; as long as their texts."""

    inputs: Inputs
    size: int

    def __len__(self) -> int:
        return self.size


class Alone(ABC):
    """A model whose calls share batches among themselves only, in a lane of its own."""

    room: int | None = None
    at_once = 1
    """Batches that may be computed at the same time; more than one only where `predict` mostly waits."""

    def __init__(self, card: ModelCard) -> None:
        self.card = card
        self.lane = f"{card.kind}:{card.name}@{card.version}"

    @classmethod
    @abstractmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder; raises `Invalid` when it is broken."""

    @abstractmethod
    def predict(self, batch: Sequence[Inputs]) -> list[ModelOutput]:
        """One output per input, in order; raises `Unavailable` when there is none to be had."""

    def prepare(self, inputs: Inputs) -> CheckedInputs:
        """The fields of the card, if they hold what the model reads; raises `Invalid` otherwise."""
        wrong = {name: problem for name in self.card.inputs if (problem := _wrong(self.card, name, inputs.get(name)))}
        if wrong:
            raise Invalid(wrong)
        card_inputs = {name: inputs[name] for name in self.card.inputs}
        return CheckedInputs(
            card_inputs, 1 + sum(len(card_inputs[name]) for name in card_inputs if name not in self.card.images)
        )

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[ModelOutput]:
        """One checked output per call, in order; raises `Broken` when the model returned something else."""
        batch = [prepared.inputs for _, prepared in calls]
        return validity.check_outputs(self.card, batch, self.predict(batch))

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Weights of all words towards `label`, by taking words away and asking again; the best after `seconds`."""
        from dynabench.models import removal

        return removal.explain(self, inputs, label, method, seconds or removal.SECONDS)

    def close(self) -> None:  # noqa: B027 - most hold nothing but memory
        """Free what the model holds."""


def _wrong(card: ModelCard, name: str, value: object) -> str:
    if not isinstance(value, str):
        return "A picture is needed here." if name in card.images else "A text is needed here."
    if name in card.images:
        fits = value.startswith("data:image/") and len(value) <= LARGEST
        return "" if fits else f"A picture as data:image/png;base64,... of up to {LARGEST // 2**20} MiB is needed."
    return "" if len(value) <= LONGEST else f"A model reads up to {LONGEST} characters."


def check_explained(card: ModelCard, label: str, method: str) -> None:
    """Raise `Invalid` for a label or a method that the model does not explain."""
    if label not in explained(card):
        raise Invalid({"label": f"One of {', '.join(explained(card))}."})
    if method not in card.methods:
        raise Invalid({"method": f"One of {', '.join(card.methods)}."})


def label_contrast(card: ModelCard, label: str) -> NDArray[np.float64]:
    """Weights (labels,) that compare a label with the mean of the others."""
    contrast = np.full(len(card.labels), -1 / (len(card.labels) - 1))
    contrast[card.labels.index(label)] = 1.0
    return contrast


def exact_attribution(
    label: str, words: Mapping[str, Sequence[Word]], sums: NDArray[np.float64], difference: float
) -> Attribution:
    """The attribution of a linear model, given each word's share (words of all fields,) of a `difference`."""
    shares = iter(sums / (float(np.abs(sums).max(initial=0.0)) or 1.0))
    fields = {
        name: [WordWeight(word.text, word.start, word.end, float(next(shares))) for word in own]
        for name, own in words.items()
    }
    error = abs(float(sums.sum()) - difference) / max(abs(difference), 1e-6)
    return Attribution("exact", label, fields, round(error, 6))
