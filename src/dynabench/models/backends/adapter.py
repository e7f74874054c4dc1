"""Classifiers over the shared encoder: one or two texts in, one of several labels out."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from torch import Tensor

from dynabench.kit.errors import Invalid
from dynabench.models import spec
from dynabench.models.attribution.gradient import METHODS, Asked, log_odds
from dynabench.models.backends.base import output
from dynabench.models.backends.body import Head
from dynabench.models.backends.encoded import Encoded, check, key_of
from dynabench.models.backends.pieces import Pieces, encode
from dynabench.models.backends.pool import Pool, shared_pool
from dynabench.models.protocol import Attribution, Card, Inputs, Output

LEAD = 0.3
"""Log-odds between the two likeliest labels above which bfloat16 has not swapped them: of 4,500 test inputs it changed
them by at most 0.16 in any, and swapped labels that were up to 0.09 apart.
"""


class AdapterModel(Encoded):
    """A classifier over one or two text fields."""

    def __init__(self, card: Card, max_length: int, pool: Pool, key: str) -> None:
        super().__init__(card, pool, key)
        self._max_length = max_length

    @classmethod
    def load(cls, folder: Path, pool: Pool | None = None) -> "AdapterModel":
        """Load a model folder into `pool`, by default the process's; raises `Invalid` when it is broken."""
        pool = pool or shared_pool()
        details, card = spec.read(folder), spec.card(folder)
        pool.add(key_of(card), folder, lambda width: Head(width, len(card.labels)))
        return cls(card, details.max_length, pool, key_of(card))

    def prepare(self, inputs: Inputs) -> Pieces:
        """The inputs' word pieces."""
        return encode([check(inputs, self.card)], self.card.inputs, self._max_length)[0]

    def windows(self, prepared: Pieces) -> Sequence[Pieces]:
        """The input is read at once, as far as it fits."""
        return (prepared,)

    def read(self, prepared: Pieces, said: Sequence[Tensor]) -> tuple[Output, bool]:
        """The likeliest label."""
        logits = said[0].numpy()
        second, first = np.partition(logits, -2)[-2:]
        return output(self.card, logits), bool(first - second >= LEAD)

    def predict(self, batch: Sequence[Inputs]) -> list[Output]:
        """One output per input, in order."""
        pieces = encode([check(inputs, self.card) for inputs in batch], self.card.inputs, self._max_length)
        return self.answer([(self, one) for one in pieces])

    def attribute(self, inputs: Inputs, label: str, method: str) -> Attribution:
        """Weights of all words towards the log-odds of `label`."""
        if label not in self.card.labels:
            raise Invalid({"label": f"One of {', '.join(self.card.labels)}."})
        if method not in self.card.methods:
            raise Invalid({"method": f"One of {', '.join(self.card.methods)}."})
        value = partial(log_odds, label=self.card.labels.index(label))
        asked = Asked(self.prepare(inputs), self.card.inputs, label, value)
        return METHODS[method](self._pool.explainable(self._key), asked)
