"""A logistic head on frozen vectors."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.cycle.simulation.encoding import Floats
from dynabench.cycle.simulation.material import Ints

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
