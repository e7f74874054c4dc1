"""Linear classifiers: softmax regressions with ever weaker penalties, until the development set gains no more."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack

from dynabench.models.training.learning import Checkpoints, Clock, Course, Evaluation, Progress, Settings
from dynabench.models.training.softmax import Floats

STRENGTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Inverses of the L2 penalty, as scikit-learn's `C`."""

Fit = Callable[[float, Callable[[float, float], None]], tuple[Floats, Floats]]
"""Weights and bias for a strength."""


@dataclass(frozen=True)
class Judged:
    """Features of the development rows (n, columns) and their labels' indices (n,)."""

    table: Any
    labels: "np.ndarray[Any, np.dtype[np.int64]]"

    def __call__(self, weights: Floats, bias: Floats) -> Evaluation:
        """Accuracy and mean cross entropy."""
        logits = self.table @ weights + bias
        logits -= logits.max(-1, keepdims=True)
        lost = np.log(np.exp(logits).sum(-1)) - logits[np.arange(len(self.labels)), self.labels]
        hits = logits.argmax(-1) == self.labels
        return Evaluation(round(float(hits.mean()), 6), round(-float(lost.mean()), 6))


@dataclass
class Found:
    """The best classifier so far."""

    weights: Floats
    bias: Floats
    course: Course
    seconds: float

    @property
    def strength(self) -> float:
        """The strength of the best classifier."""
        return self.course.best[0]


def learn(fit: Fit, judged: Judged, settings: Settings, kept: Checkpoints, progress: Progress) -> Found:
    """The classifier whose strength is best on the development rows; each that was tried is kept."""
    found = _read(kept.load(), settings)
    clock = Clock(found.seconds)
    for number, strength in enumerate(STRENGTHS):
        if number < len(found.course.found):
            continue
        if found.course.over or (number and clock.past(settings.minutes)):
            break

        def report(share: float, loss: float, number: int = number) -> None:
            progress("training", (number + share) / len(STRENGTHS), f"loss {loss:.3f}")

        weights, bias = fit(strength, report)
        if found.course.add(strength, judged(weights, bias)):
            found.weights, found.bias = weights, bias
        found.seconds = clock.seconds
        kept.keep(_written(found))
    progress("training", 1.0, f"dev {found.course.best[1].score:.3f}")
    return found


def _written(found: Found) -> bytes:
    told = json.dumps({"course": found.course.told(), "seconds": found.seconds})
    return pack({"weights": found.weights, "bias": found.bias}, {"told": told})


def _read(state: bytes | None, settings: Settings) -> Found:
    if state is None:
        return Found(np.zeros((0, 0)), np.zeros(0), Course(settings.patience), 0.0)
    length = int.from_bytes(state[:8], "little")
    told = json.loads(json.loads(state[8 : 8 + length])["__metadata__"]["told"])
    arrays = unpack(state)
    return Found(arrays["weights"], arrays["bias"], Course.of(settings.patience, told["course"]), told["seconds"])
