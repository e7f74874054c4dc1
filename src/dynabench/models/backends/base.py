"""The backend interface of the host beyond the `Model` protocol.

It prepares requests early and batches them across models.
"""

from collections.abc import Sequence, Sized
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dynabench.models.protocol import Attributable, Card, Inputs, Output
from dynabench.models.validity import Broken

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

    def answer(self, calls: Sequence[tuple["Backend", Prepared]]) -> list[Output]:
        """One output per call, in order; the calls are to models of this lane, possibly several."""
        ...


def softmax(logits: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Probabilities along the last axis."""
    shifted = np.asarray(logits, float) - np.max(logits, -1, keepdims=True)
    odds = np.exp(shifted)
    return np.asarray(odds / odds.sum(-1, keepdims=True))


def output(card: Card, logits: NDArray[np.floating[Any]]) -> Output:
    """The answer that logits (labels,) mean: the likeliest label, the first of equals.

    Raises `Broken` for logits that are no finite numbers, as of a training that diverged.
    """
    if not np.isfinite(logits).all():
        raise Broken(f"{card.name} computed numbers that are not finite for this input; train it again.")
    probabilities = softmax(logits)
    best = int(np.argmax(probabilities))
    return Output(
        {card.answer: card.labels[best]},
        {label: round(float(p), 6) for label, p in zip(card.labels, probabilities, strict=True)},
    )
