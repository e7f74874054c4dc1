"""Training of linear models over hashed n-grams."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from dynabench.kit.errors import Invalid
from dynabench.models.backends import ngram
from dynabench.models.backends.ngram import Options, save
from dynabench.models.training import mixing, softmax
from dynabench.models.training.learning import Checkpoints, Learned, Progress, Settings
from dynabench.models.training.mixing import Mix
from dynabench.models.training.recipes import Ngram, Recipe
from dynabench.models.training.rows import Row
from dynabench.models.training.softmax import FitProgress, Floats


def options(settings: Ngram) -> Options:
    """The feature options of a recipe."""
    return Options(settings.bits, settings.characters, settings.word_grams, settings.pairs)


def train(recipe: Recipe, rows: Sequence[Row], progress: FitProgress) -> tuple[Floats, Floats]:
    """Weights (2**bits, labels) and bias (labels,); deterministic.

    Rows whose annotators chose among some labels only are compared among those.
    """
    table = matrix(rows, recipe.inputs, options(recipe.ngram), lambda share: progress(share / 2, 0.0))
    labels, barred = targets(rows, recipe.labels)
    return fit_sparse(table, labels, barred, recipe.ngram.strength, lambda share, loss: progress(0.5 + share / 2, loss))


def matrix(
    rows: Sequence[Row], inputs: Sequence[str], chosen: Options, progress: Callable[[float], None]
) -> "csr_matrix":
    """Feature rows, shape (n, 2**bits)."""
    indices, values, starts = [], [], [0]
    for count, row in enumerate(rows):
        found = ngram.extract([row.inputs[name] for name in inputs], chosen)
        indices.append(found.index)
        values.append(found.value)
        starts.append(starts[-1] + len(found))
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
    found, bias = softmax.fit_softmax(small, small.T.tocsr(), labels, barred, strength, progress, amounts)
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


def learn(mix: Mix, settings: Settings, folder: Path, kept: Checkpoints, progress: Progress) -> Learned:
    """Train, and write the weights to `folder`."""
    if len(mix.inputs) > 2:
        raise Invalid({"method": "ngram chooses one of several labels for one or two texts; take another method."})
    chosen = Ngram(pairs=len(mix.inputs) == 2, characters=None if len(mix.inputs) == 2 else (2, 5))
    features = options(chosen)
    drawn = mixing.amounts(mix.parts)
    rows, often = [row for row, _ in drawn], np.array([amount for _, amount in drawn])
    table = matrix(rows, mix.inputs, features, lambda share: progress("reading", share, ""))
    labels, barred = targets(rows, mix.labels)
    dev = cast("Sequence[Row]", mix.dev)
    judged = softmax.Judged(matrix(dev, mix.inputs, features, lambda share: None), targets(dev, mix.labels)[0])

    def fit(strength: float, report: softmax.FitProgress) -> tuple[Floats, Floats]:
        return fit_sparse(table, labels, barred, strength, report, often)

    found = softmax.choose_strength(fit, judged, settings, kept, progress)
    save(folder, features, prune(found.weights, chosen.keep), found.bias)
    about = "pairs of words across the two texts" if chosen.pairs else "characters of 2 to 5"
    told = f"Softmax regression over hashed words up to {chosen.word_grams} and {about}, C = {found.strength:g}"
    return Learned("ngram", told, found.course, found.seconds, len(rows), found.course.over)


def targets(
    rows: Sequence[Row], labels: Sequence[str]
) -> tuple["np.ndarray[tuple[int], np.dtype[np.int64]]", "np.ndarray[tuple[int, int], np.dtype[np.bool_]]"]:
    """The label's index of each row (n,), and which labels were no choice of its annotators (n, labels)."""
    barred = [[bool(row.among) and name not in row.among for name in labels] for row in rows]
    return np.array([labels.index(row.label) for row in rows]), np.array(barred)
