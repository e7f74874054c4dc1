"""Training of a linear model over hashed n-grams: softmax regression by L-BFGS, written for sparse rows."""

import time
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dynabench.models.backends import features
from dynabench.models.backends.features import Options
from dynabench.models.training import softmax
from dynabench.models.training.recipes import Ngram, Recipe
from dynabench.models.training.rows import Row
from dynabench.models.training.softmax import Floats, Progress


def options(settings: Ngram) -> Options:
    """The feature options of a recipe."""
    return Options(settings.bits, settings.characters, settings.word_grams, settings.pairs)


def train(recipe: Recipe, rows: Sequence[Row], progress: Progress) -> tuple[Floats, Floats]:
    """Weights (2**bits, labels) and bias (labels,); deterministic.

    Rows whose annotators chose among some labels only are compared among those.
    """
    table = matrix(rows, recipe.inputs, options(recipe.ngram), lambda share: progress(share / 2, 0.0))
    labels = np.array([recipe.labels.index(row.label) for row in rows])
    barred = np.array([[bool(row.among) and name not in row.among for name in recipe.labels] for row in rows])
    return fit(table, labels, barred, recipe.ngram.strength, lambda share, loss: progress(0.5 + share / 2, loss))


def timed(recipe: Recipe, rows: Sequence[Row], progress: Progress) -> tuple[float, tuple[Floats, Floats]]:
    """`train` with the seconds it took."""
    started = time.monotonic()
    result = train(recipe, rows, progress)
    return time.monotonic() - started, result


def matrix(
    rows: Sequence[Row], inputs: Sequence[str], chosen: Options, progress: Callable[[float], None]
) -> "csr_matrix":
    """Feature rows, shape (n, 2**bits)."""
    indices, values, starts = [], [], [0]
    for count, row in enumerate(rows):
        found = features.extract([row.inputs[name] for name in inputs], chosen)
        indices.append(found.index)
        values.append(found.value)
        starts.append(starts[-1] + len(found))
        if count % 500 == 0:
            progress(count / len(rows))
    table = csr_matrix((np.concatenate(values), np.concatenate(indices), starts), shape=(len(rows), 1 << chosen.bits))
    table.sum_duplicates()
    return table


def fit(
    table: "csr_matrix",
    labels: NDArray[np.int64],
    barred: NDArray[np.bool_],
    strength: float,
    progress: Progress,
    amounts: Floats | None = None,
) -> tuple[Floats, Floats]:
    """`softmax.fit`, of which only columns that occur are optimised; the others stay 0."""
    used = np.unique(table.indices)
    small = table[:, used].tocsr()
    found, bias = softmax.fit(small, small.T.tocsr(), labels, barred, strength, progress, amounts)
    weights = np.zeros((table.shape[1], barred.shape[1]))
    weights[used] = found
    return weights, bias


def prune(weights: Floats, keep: int) -> Floats:
    """The weights with all but the `keep` columns of largest magnitude set to 0."""
    size = np.abs(weights).max(-1)
    if keep >= len(size):
        return weights
    cut = np.partition(size, -keep)[-keep]
    return np.where((size >= cut)[:, None], weights, 0.0)
