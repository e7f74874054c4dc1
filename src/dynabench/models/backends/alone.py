"""The easiest way to write a backend: say what a batch of inputs is answered with, and have the rest from here."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from dynabench.kit.errors import Invalid
from dynabench.models import validity
from dynabench.models.backends.base import Backend, Prepared
from dynabench.models.protocol import LARGEST, Attribution, Card, Inputs, Output

LONGEST = 100_000
"""Characters of a text that a model is given."""


@dataclass(frozen=True)
class Taken:
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

    def __init__(self, card: Card) -> None:
        self.card = card
        self.lane = f"{card.kind}:{card.name}@{card.version}"

    @classmethod
    @abstractmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder; raises `Invalid` when it is broken."""

    @abstractmethod
    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output per input, in order; raises `Unavailable` when there is none to be had."""

    def prepare(self, inputs: Inputs) -> Taken:
        """The fields of the card, if they hold what the model reads; raises `Invalid` otherwise."""
        wrong = {name: told for name in self.card.inputs if (told := _wrong(self.card, name, inputs.get(name)))}
        if wrong:
            raise Invalid(wrong)
        taken = {name: inputs[name] for name in self.card.inputs}
        return Taken(taken, 1 + sum(len(taken[name]) for name in taken if name not in self.card.images))

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[Output]:
        """One checked output per call, in order; raises `Broken` when the model returned something else."""
        batch = [prepared.inputs for _, prepared in calls]
        return validity.checked(self.card, batch, self.predict(batch))

    def attribute(self, inputs: Inputs, label: str, method: str, seconds: float | None = None) -> Attribution:
        """Weights of all words towards `label`, by taking words away and asking again; the best after `seconds`."""
        from dynabench.models.attribution import removal

        return removal.explain(self, inputs, label, method, seconds or removal.SECONDS)

    def close(self) -> None:  # noqa: B027 - most hold nothing but memory
        """Free what the model holds."""


def _wrong(card: Card, name: str, value: object) -> str:
    if not isinstance(value, str):
        return "A picture is needed here." if name in card.images else "A text is needed here."
    if name in card.images:
        fits = value.startswith("data:image/") and len(value) <= LARGEST
        return "" if fits else f"A picture as data:image/png;base64,... of up to {LARGEST // 2**20} MiB is needed."
    return "" if len(value) <= LONGEST else f"A model reads up to {LONGEST} characters."
