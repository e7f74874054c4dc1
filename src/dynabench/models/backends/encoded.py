"""Common parts of all models over the shared encoder, whatever their heads compute."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Self
from weakref import WeakKeyDictionary

from torch import Tensor

from dynabench.kit.errors import Invalid
from dynabench.models.backends.base import Backend, Prepared
from dynabench.models.backends.pieces import Pieces
from dynabench.models.backends.pool import Pool
from dynabench.models.protocol import Card, Inputs, Output

_uses: WeakKeyDictionary[Pool, Counter[str]] = WeakKeyDictionary()
"""How many models of a pool answer by the same adapter."""


class Encoded(ABC):
    """A model that asks the pool about one or more windows of pieces and makes an answer of what its head says."""

    lane = "encoder"
    room: int | None = 2048
    """Pieces of one batch at most: long inputs keep short ones waiting no longer than a full batch of short ones."""

    def __init__(self, card: Card, pool: Pool, key: str) -> None:
        self.card = card
        self._pool = pool
        self._key = key
        _uses.setdefault(pool, Counter())[key] += 1
        self._open = True

    @classmethod
    @abstractmethod
    def load(cls, folder: Path, pool: Pool | None = None) -> Self:
        """Load a model folder into `pool`, by default the process's; raises `Invalid` when it is broken."""

    @classmethod
    def open(cls, folder: Path, bulk: bool = False) -> Self:
        """Load a model folder into the process's pool; many inputs take no other way than one."""
        return cls.load(folder)

    @property
    def key(self) -> str:
        """The name of its adapter within the pool."""
        return self._key

    @abstractmethod
    def windows(self, prepared: Prepared) -> Sequence[Pieces]:
        """Return the windows of pieces that the encoder has to read for one call."""

    @abstractmethod
    def read(self, prepared: Prepared, said: Sequence[Tensor]) -> tuple[Output, bool]:
        """The answer, given what the head says of each window; and whether it leads so clearly that rounding, in a
        pool that computes in less than fp32, cannot have changed it.
        """

    def close(self) -> None:
        """Free the adapter, unless the same model was opened twice and the other is still there."""
        if not self._open:
            return
        self._open = False
        uses = _uses[self._pool]
        uses[self._key] -= 1
        if not uses[self._key]:
            self._pool.remove(self._key)

    def answer(self, calls: Sequence[tuple[Backend, Prepared]]) -> list[Output]:
        """Answers to calls of any models of this model's pool, mixed in one batch."""
        ours = [(model, prepared) for model, prepared in calls if isinstance(model, Encoded)]
        found = self._ask(ours)
        unsure = [index for index, (_, sure) in enumerate(found) if not (sure or self._pool.exact)]
        if unsure:
            again = self._ask([ours[index] for index in unsure], exact=True)
            for index, better in zip(unsure, again, strict=True):
                found[index] = better
        return [output for output, _ in found]

    def _ask(self, calls: Sequence[tuple["Encoded", Prepared]], exact: bool = False) -> list[tuple[Output, bool]]:
        asked = [model.windows(prepared) for model, prepared in calls]
        keys = [model._key for (model, _), windows in zip(calls, asked, strict=True) for _ in windows]
        rows = iter(self._pool.logits(keys, [window for windows in asked for window in windows], exact))
        said = [[next(rows) for _ in windows] for windows in asked]
        return [model.read(prepared, rows) for (model, prepared), rows in zip(calls, said, strict=True)]


def key_of(card: Card) -> str:
    """The name that a model's adapter has within the pool."""
    return f"{card.name}@{card.version}".replace(".", "_")


def check(inputs: Inputs, card: Card) -> Inputs:
    """The inputs, if they hold text for every field of the card; raises `Invalid` otherwise."""
    wrong = {name: "A text is needed here." for name in card.inputs if not isinstance(inputs.get(name), str)}
    if wrong:
        raise Invalid(wrong)
    return inputs
