"""A logistic head on frozen vectors."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.cycle.simulation import encoding
from dynabench.cycle.simulation.encoding import Floats, Tell
from dynabench.cycle.simulation.material import Ints, Rows
from dynabench.cycle.simulation.methods import Method

STRENGTHS = (0.1, 0.5, 2.0)
"""Inverse L2 penalties to choose from, as scikit-learn's `C`, the strongest first."""
STEPS = 300


@dataclass(frozen=True)
class Head:
    """What was fitted: `weights`, shape (width, K), and `bias`, shape (K,)."""

    weights: Floats
    bias: Floats

    def shares(self, features: Floats) -> NDArray[np.float64]:
        """The probability of each answer, shape (n, K)."""
        scores = (features @ self.weights + self.bias).astype(np.float64)
        scores = np.exp(scores - scores.max(1, keepdims=True))
        found: NDArray[np.float64] = scores / scores.sum(1, keepdims=True)
        return found

    def wrong(self, features: Floats, labels: Ints) -> NDArray[np.bool_]:
        """Where the head errs, shape (n,)."""
        found: NDArray[np.bool_] = self.shares(features).argmax(1) != labels
        return found


def fit(features: Floats, labels: Ints, classes: int, strength: float) -> Head:
    """The head with the least penalised loss; the same rows in the same order give the same one."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the last digits change no answer
        fitted: Any = LogisticRegression(C=strength, max_iter=STEPS).fit(features, labels)
    weights = np.zeros((features.shape[1], classes), np.float32)
    bias = np.full(classes, -np.inf, np.float32)  # an answer that was never seen is never given
    if len(fitted.classes_) == 2:
        weights[:, fitted.classes_[1]] = fitted.coef_[0]
        bias[fitted.classes_] = [0.0, fitted.intercept_[0]]
    else:
        weights[:, fitted.classes_] = fitted.coef_.T
        bias[fitted.classes_] = fitted.intercept_
    return Head(weights, bias)


def best(features: Floats, labels: Ints, development: tuple[Floats, Ints], classes: int) -> Head:
    """The head whose penalty errs least on the development rows, the strongest penalty of equals."""
    heads = [fit(features, labels, classes, each) for each in STRENGTHS]
    return min(heads, key=lambda each: float(each.wrong(*development).mean()))


class Heads(Method[Head]):
    """Heads on the frozen encoder, whose vectors are computed once and kept."""

    told = (
        "A logistic head on the mean of the last states of the frozen shared encoder, of length 1; of two texts u and "
        "v it sees u, v, |u − v| and u × v. The penalty is chosen on the development rows, for every arm and round "
        "alike. No adapter that was trained on any of these rows is used. What the head sees, which penalties it may "
        "have and what the pools are mixed of was settled in pilots that looked at errors on test rows of one seed, "
        "once with all arms; nothing was changed after the run that is reported here."
    )
    limits = (
        "The model is small: a linear head on a frozen encoder. What it cannot represent it cannot learn from hard "
        "examples; larger models that are trained as a whole may gain where it loses."
    )
    ran = "heads on one thread"

    def embed(self, rows: Rows, cache: Path, tell: Tell) -> Floats:
        """Vectors of all texts; see `encoding.features`."""
        known = encoding.vectors({text for texts in rows.texts for text in texts}, cache, tell)
        return encoding.features(rows.texts, known)

    def fit(self, read: Floats, labels: Ints, development: tuple[Floats, Ints], seed: int) -> Head:
        """The head of the best penalty; nothing is drawn."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # more threads add numbers in another order
            return best(read, labels, development, len(self.material.labels))

    def predict(self, model: Head, read: Floats) -> NDArray[np.float64]:
        """See `Method`."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return model.shares(read)
