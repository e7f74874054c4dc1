"""A logistic head on frozen vectors."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.simulation import text_vectors
from experiments.simulation.task_data import IntArray, LabelledRows
from experiments.simulation.text_vectors import Float32Array, ProgressCallback
from experiments.simulation.training_methods import Probabilities, TrainingMethod

STRENGTHS = (0.1, 0.5, 2.0)
"""Inverse L2 penalties to choose from, as scikit-learn's `C`, the strongest penalty first."""
STEPS = 300


@dataclass(frozen=True)
class LinearHead:
    """A fitted head: `weights`, shape (width, K), and `bias`, shape (K,)."""

    weights: Float32Array
    bias: Float32Array

    def predict(self, features: Float32Array) -> Probabilities:
        """Return the probability of each answer, shape (n, K)."""
        scores = (features @ self.weights + self.bias).astype(np.float64)
        scores = np.exp(scores - scores.max(1, keepdims=True))
        probabilities: Probabilities = scores / scores.sum(1, keepdims=True)
        return probabilities

    def find_errors(self, features: Float32Array, labels: IntArray) -> NDArray[np.bool_]:
        """Return whether the head is wrong on each row, shape (n,)."""
        errors: NDArray[np.bool_] = self.predict(features).argmax(1) != labels
        return errors


def fit_head(features: Float32Array, labels: IntArray, classes: int, strength: float) -> LinearHead:
    """Fit the head with the least penalised loss; the same rows in the same order give the same head."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last digits change no answer
        regression: Any = LogisticRegression(C=strength, max_iter=STEPS).fit(features, labels)
    weights = np.zeros((features.shape[1], classes), np.float32)
    bias = np.full(classes, -np.inf, np.float32)  # the head never gives an answer that no row has
    if len(regression.classes_) == 2:
        weights[:, regression.classes_[1]] = regression.coef_[0]
        bias[regression.classes_] = [0.0, regression.intercept_[0]]
    else:
        weights[:, regression.classes_] = regression.coef_.T
        bias[regression.classes_] = regression.intercept_
    return LinearHead(weights, bias)


def fit_best_head(
    features: Float32Array, labels: IntArray, development: tuple[Float32Array, IntArray], classes: int
) -> LinearHead:
    """Fit a head for each penalty; return the one with the fewest errors on the development rows.

    Of equal ones it is that with the strongest penalty.
    """
    heads = [fit_head(features, labels, classes, strength) for strength in STRENGTHS]
    return min(heads, key=lambda head: float(head.find_errors(*development).mean()))


class HeadMethod(TrainingMethod[LinearHead]):
    """Heads on the frozen encoder, whose vectors are computed once and stored."""

    description = (
        "A logistic head on the mean of the last states of the frozen shared encoder, scaled to length 1; for two "
        "texts u and v its input is u, v, |u − v| and u × v. The penalty is chosen on the development rows, in the "
        "same way for every arm and round. No adapter that was trained on any of these rows is used. The inputs of "
        "the head, the penalties to choose from and the composition of the pools were fixed in pilot runs that looked "
        "at errors on test rows of one seed, once with all arms; nothing was changed after the reported run."
    )
    limits = (
        "The model is small: a linear head on a frozen encoder. It cannot learn from hard examples what it cannot "
        "represent; larger models that are trained as a whole may gain where it loses."
    )
    execution = "heads on one thread"

    def embed(self, rows: LabelledRows, folder: Path, report_progress: ProgressCallback) -> Float32Array:
        """Compute the vectors of all texts; see `text_vectors.combine_features`."""
        texts = {text for row_texts in rows.texts for text in row_texts}
        return text_vectors.combine_features(rows.texts, text_vectors.load_vectors(texts, folder, report_progress))

    def fit(
        self, features: Float32Array, labels: IntArray, development: tuple[Float32Array, IntArray], seed: int
    ) -> LinearHead:
        """Fit the head with the best penalty; nothing in it is random."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # more threads add numbers in another order
            return fit_best_head(features, labels, development, len(self.data.labels))

    def predict(self, model: LinearHead, features: Float32Array) -> Probabilities:
        """Return a head's probabilities."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return model.predict(features)
