"""Softmax regression by L-BFGS, and the choice of its penalty on the development set."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack
from scipy.optimize import minimize

from dynabench.models.training.learning import Checkpoints, Clock, Course, Evaluation, Progress, Settings

FitProgress = Callable[[float, float], None]
Floats = NDArray[np.float64]
ITERATIONS = 120


def fit_softmax(
    table: Any,
    turned: Any,
    labels: NDArray[np.int64],
    barred: NDArray[np.bool_],
    strength: float,
    progress: FitProgress,
    amounts: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Weights (columns, labels) and bias (labels,) for rows `table` (n, columns), whose transpose is `turned`.

    Minimises `strength` * summed cross entropy + squared weights / 2 (scikit-learn's objective, bias unpenalised).
    Labels that are `barred` (n, labels) for a row are not compared; `amounts` (n,) says how often each row counts.
    """
    n, k = barred.shape
    often = np.ones(n) if amounts is None else amounts
    target = np.zeros((n, k))
    target[np.arange(n), labels] = 1.0
    steps = [0]

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights, bias = flat[:-k].reshape(-1, k), flat[-k:]
        logits = np.where(barred, -np.inf, table @ weights + bias)
        logits -= logits.max(-1, keepdims=True)
        odds = np.exp(logits)
        total = odds.sum(-1, keepdims=True)
        loss = strength * float((often * (np.log(total[:, 0]) - logits[np.arange(n), labels])).sum())
        error = often[:, None] * (odds / total - target)
        slope = np.concatenate([(strength * (turned @ error) + weights).ravel(), strength * error.sum(0)])
        steps[0] += 1
        progress(min(steps[0] / ITERATIONS, 1.0), loss / (strength * float(often.sum())))
        return loss + 0.5 * float((weights**2).sum()), slope

    start: Any = np.zeros(table.shape[1] * k + k)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS, "gtol": 1e-3}).x
    return best[:-k].reshape(-1, k), np.asarray(best[-k:])


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
class ChosenStrength:
    """The best classifier so far."""

    weights: Floats
    bias: Floats
    course: Course
    seconds: float

    @property
    def strength(self) -> float:
        """The strength of the best classifier."""
        return self.course.best[0]


def choose_strength(
    fit: Fit, judged: Judged, settings: Settings, kept: Checkpoints, progress: Progress
) -> ChosenStrength:
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


def _written(found: ChosenStrength) -> bytes:
    told = json.dumps({"course": found.course.told(), "seconds": found.seconds})
    return pack({"weights": found.weights, "bias": found.bias}, {"told": told})


def _read(state: bytes | None, settings: Settings) -> ChosenStrength:
    if state is None:
        return ChosenStrength(np.zeros((0, 0)), np.zeros(0), Course(settings.patience), 0.0)
    length = int.from_bytes(state[:8], "little")
    told = json.loads(json.loads(state[8 : 8 + length])["__metadata__"]["told"])
    arrays = unpack(state)
    return ChosenStrength(
        arrays["weights"], arrays["bias"], Course.of(settings.patience, told["course"]), told["seconds"]
    )
