"""Training of a linear model over hashed n-grams: softmax regression by L-BFGS, written for sparse rows."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from dynabench.models.backends import features
from dynabench.models.backends.features import Options
from dynabench.models.training.recipes import Ngram, Recipe
from dynabench.models.training.rows import Row

Progress = Callable[[float, float], None]
Floats = NDArray[np.float64]
ITERATIONS = 120


def options(settings: Ngram) -> Options:
    """The feature options of a recipe."""
    return Options(settings.bits, settings.characters, settings.word_grams, settings.pairs)


def train(recipe: Recipe, rows: Sequence[Row], progress: Progress) -> tuple[Floats, Floats]:
    """Weights (2**bits, labels) and bias (labels,); deterministic.

    Rows whose annotators chose among some labels only are compared among those.
    """
    table = matrix(rows, recipe, options(recipe.ngram), lambda share: progress(share / 2, 0.0))
    labels = np.array([recipe.labels.index(row.label) for row in rows])
    barred = np.array([[bool(row.among) and name not in row.among for name in recipe.labels] for row in rows])
    return fit(table, labels, barred, recipe.ngram.strength, lambda share, loss: progress(0.5 + share / 2, loss))


def timed(recipe: Recipe, rows: Sequence[Row], progress: Progress) -> tuple[float, tuple[Floats, Floats]]:
    """`train` with the seconds it took."""
    started = time.monotonic()
    result = train(recipe, rows, progress)
    return time.monotonic() - started, result


def matrix(rows: Sequence[Row], recipe: Recipe, chosen: Options, progress: Callable[[float], None]) -> "csr_matrix":
    """Feature rows, shape (n, 2**bits)."""
    indices, values, starts = [], [], [0]
    for count, row in enumerate(rows):
        found = features.extract([row.inputs[name] for name in recipe.inputs], chosen)
        indices.append(found.index)
        values.append(found.value)
        starts.append(starts[-1] + len(found))
        if count % 500 == 0:
            progress(count / len(rows))
    table = csr_matrix((np.concatenate(values), np.concatenate(indices), starts), shape=(len(rows), 1 << chosen.bits))
    table.sum_duplicates()
    return table


def fit(
    table: "csr_matrix", labels: NDArray[np.int64], barred: NDArray[np.bool_], strength: float, progress: Progress
) -> tuple[Floats, Floats]:
    """Minimise `strength` * summed cross entropy + squared weights / 2 (scikit-learn's objective, bias unpenalised).

    Only columns that occur are optimised; the others stay 0.
    """
    used = np.unique(table.indices)
    small = table[:, used].tocsr()
    turned = small.T.tocsr()
    n, k = len(labels), barred.shape[1]
    target = np.zeros((n, k))
    target[np.arange(n), labels] = 1.0
    steps = [0]

    def objective(flat: Floats) -> tuple[float, Floats]:
        weights, bias = flat[:-k].reshape(-1, k), flat[-k:]
        logits = np.where(barred, -np.inf, small @ weights + bias)
        logits -= logits.max(-1, keepdims=True)
        odds = np.exp(logits)
        total = odds.sum(-1, keepdims=True)
        loss = strength * float((np.log(total[:, 0]) - logits[np.arange(n), labels]).sum())
        error = odds / total - target
        slope = np.concatenate([(strength * (turned @ error) + weights).ravel(), strength * error.sum(0)])
        steps[0] += 1
        progress(min(steps[0] / ITERATIONS, 1.0), loss / (strength * n))
        return loss + 0.5 * float((weights**2).sum()), slope

    start: Any = np.zeros(len(used) * k + k)
    best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": ITERATIONS, "gtol": 1e-3}).x
    weights = np.zeros((table.shape[1], k))
    weights[used] = best[:-k].reshape(-1, k)
    return weights, np.asarray(best[-k:])


def prune(weights: Floats, keep: int) -> Floats:
    """The weights with all but the `keep` columns of largest magnitude set to 0."""
    size = np.abs(weights).max(-1)
    if keep >= len(size):
        return weights
    cut = np.partition(size, -keep)[-keep]
    return np.where((size >= cut)[:, None], weights, 0.0)
