"""Training of linear classifiers: softmax regression by L-BFGS, the choice of its penalty, and hashed n-grams."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load as unpack
from safetensors.numpy import save as pack
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from dynabench.kit.errors import Invalid
from dynabench.models.backends import ngram
from dynabench.models.backends.ngram import NgramOptions, save
from dynabench.models.training import mixing
from dynabench.models.training.learning import (
    Checkpoints,
    Clock,
    Course,
    DevelopmentResult,
    Learned,
    LearningSettings,
    Progress,
)
from dynabench.models.training.mixing import Mix
from dynabench.models.training.recipes import Ngram, Recipe
from dynabench.models.training.rows import TrainingRow

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
class DevelopmentFeatures:
    """Features of the development rows (n, columns) and their labels' indices (n,)."""

    table: Any
    labels: "np.ndarray[Any, np.dtype[np.int64]]"

    def __call__(self, weights: Floats, bias: Floats) -> DevelopmentResult:
        """Accuracy and mean cross entropy."""
        logits = self.table @ weights + bias
        logits -= logits.max(-1, keepdims=True)
        lost = np.log(np.exp(logits).sum(-1)) - logits[np.arange(len(self.labels)), self.labels]
        hits = logits.argmax(-1) == self.labels
        return DevelopmentResult(round(float(hits.mean()), 6), round(-float(lost.mean()), 6))


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
    fit: Fit, judged: DevelopmentFeatures, settings: LearningSettings, checkpoints: Checkpoints, progress: Progress
) -> ChosenStrength:
    """The classifier whose strength is best on the development rows; each that was tried is kept."""
    best = _read(checkpoints.load(), settings)
    clock = Clock(best.seconds)
    for number, strength in enumerate(STRENGTHS):
        if number < len(best.course.evaluations):
            continue
        if best.course.over or (number and clock.past(settings.minutes)):
            break

        def report(share: float, loss: float, number: int = number) -> None:
            progress("training", (number + share) / len(STRENGTHS), f"loss {loss:.3f}")

        weights, bias = fit(strength, report)
        if best.course.add(strength, judged(weights, bias)):
            best.weights, best.bias = weights, bias
        best.seconds = clock.seconds
        checkpoints.keep(_written(best))
    progress("training", 1.0, f"dev {best.course.best[1].score:.3f}")
    return best


def _written(best: ChosenStrength) -> bytes:
    metadata = json.dumps({"course": best.course.as_rows(), "seconds": best.seconds})
    return pack({"weights": best.weights, "bias": best.bias}, {"told": metadata})


def _read(state: bytes | None, settings: LearningSettings) -> ChosenStrength:
    if state is None:
        return ChosenStrength(np.zeros((0, 0)), np.zeros(0), Course(settings.patience), 0.0)
    length = int.from_bytes(state[:8], "little")
    metadata = json.loads(json.loads(state[8 : 8 + length])["__metadata__"]["told"])
    arrays = unpack(state)
    return ChosenStrength(
        arrays["weights"], arrays["bias"], Course.of(settings.patience, metadata["course"]), metadata["seconds"]
    )


def options(settings: Ngram) -> NgramOptions:
    """The feature options of a recipe."""
    return NgramOptions(settings.bits, settings.characters, settings.word_grams, settings.pairs)


def train(recipe: Recipe, rows: Sequence[TrainingRow], progress: FitProgress) -> tuple[Floats, Floats]:
    """Weights (2**bits, labels) and bias (labels,); deterministic.

    Rows whose annotators chose among some labels only are compared among those.
    """
    table = matrix(rows, recipe.inputs, options(recipe.ngram), lambda share: progress(share / 2, 0.0))
    labels, barred = targets(rows, recipe.labels)
    return fit_sparse(table, labels, barred, recipe.ngram.strength, lambda share, loss: progress(0.5 + share / 2, loss))


def matrix(
    rows: Sequence[TrainingRow], inputs: Sequence[str], chosen: NgramOptions, progress: Callable[[float], None]
) -> "csr_matrix":
    """Feature rows, shape (n, 2**bits)."""
    indices, values, starts = [], [], [0]
    for count, row in enumerate(rows):
        features = ngram.extract([row.inputs[name] for name in inputs], chosen)
        indices.append(features.index)
        values.append(features.value)
        starts.append(starts[-1] + len(features))
        if count % 500 == 0:
            progress(count / len(rows))
    table = csr_matrix((np.concatenate(values), np.concatenate(indices), starts), shape=(len(rows), 1 << chosen.bits))
    table.sum_duplicates()
    return table


def fit_sparse(
    table: "csr_matrix",
    labels: NDArray[np.int64],
    barred: NDArray[np.bool_],
    strength: float,
    progress: FitProgress,
    amounts: Floats | None = None,
) -> tuple[Floats, Floats]:
    """`softmax.fit`, of which only columns that occur are optimised; the others stay 0."""
    used = np.unique(table.indices)
    small = table[:, used].tocsr()
    small_weights, bias = fit_softmax(small, small.T.tocsr(), labels, barred, strength, progress, amounts)
    weights = np.zeros((table.shape[1], barred.shape[1]))
    weights[used] = small_weights
    return weights, bias


def prune(weights: Floats, keep: int) -> Floats:
    """The weights with all but the `keep` columns of largest magnitude set to 0."""
    size = np.abs(weights).max(-1)
    if keep >= len(size):
        return weights
    cut = np.partition(size, -keep)[-keep]
    return np.where((size >= cut)[:, None], weights, 0.0)


def learn(mix: Mix, settings: LearningSettings, folder: Path, checkpoints: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
    if len(mix.inputs) > 2:
        raise Invalid({"method": "ngram chooses one of several labels for one or two texts; take another method."})
    chosen = Ngram(pairs=len(mix.inputs) == 2, characters=None if len(mix.inputs) == 2 else (2, 5))
    features = options(chosen)
    drawn = mixing.amounts(mix.parts)
    rows, often = [row for row, _ in drawn], np.array([amount for _, amount in drawn])
    table = matrix(rows, mix.inputs, features, lambda share: progress("reading", share, ""))
    labels, barred = targets(rows, mix.labels)
    dev = cast("Sequence[TrainingRow]", mix.dev)
    judged = DevelopmentFeatures(matrix(dev, mix.inputs, features, lambda share: None), targets(dev, mix.labels)[0])

    def fit(strength: float, report: FitProgress) -> tuple[Floats, Floats]:
        return fit_sparse(table, labels, barred, strength, report, often)

    best = choose_strength(fit, judged, settings, checkpoints, progress)
    save(folder, features, prune(best.weights, chosen.keep), best.bias)
    about = "pairs of words across the two texts" if chosen.pairs else "characters of 2 to 5"
    description = f"Softmax regression over hashed words up to {chosen.word_grams} and {about}, C = {best.strength:g}"
    return Learned("ngram", description, best.course, best.seconds, len(rows), best.course.over)


def targets(
    rows: Sequence[TrainingRow], labels: Sequence[str]
) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"]:
    """The label's index of each row (n,), and which labels were no choice of its annotators (n, labels)."""
    barred = [[bool(row.among) and name not in row.among for name in labels] for row in rows]
    return np.array([labels.index(row.label) for row in rows]), np.array(barred)
