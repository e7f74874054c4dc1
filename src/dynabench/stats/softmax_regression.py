"""Softmax regression over sparse features with an L2 penalty, and its predictions for rows that it was not fitted on.

Source: Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 2nd edition (2009), sections 4.4, 7.10.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDS = 5
STEPS = 100
PENALTY = 1.0
"""Weight of half the sum of squared coefficients, beside the sum of the rows' losses."""


def fit_softmax(features: Any, labels: Ints, classes: int, penalty: float = PENALTY) -> Floats:
    """Return coefficients, shape (d + 1, K); the last row holds those of the constant, which is not penalised.

    `features` is a sparse array, shape (n, d).
    """
    from scipy.optimize import minimize

    n, d = features.shape
    onehot = np.eye(classes)[labels]

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(d + 1, classes)
        log_shares = _log_softmax(features @ weights[:-1] + weights[-1])
        rest = np.exp(log_shares) - onehot
        value = -float(log_shares[np.arange(n), labels].sum()) + penalty / 2 * float((weights[:-1] ** 2).sum())
        gradient = np.concatenate([features.T @ rest + penalty * weights[:-1], rest.sum(0, keepdims=True)])
        return value, gradient.ravel()

    start = np.zeros((d + 1) * classes)
    result: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": STEPS}).x
    return result.reshape(d + 1, classes)


def predict_softmax(features: Any, weights: Floats) -> Floats:
    """Return the probability of each class, shape (n, K)."""
    return np.exp(_log_softmax(features @ weights[:-1] + weights[-1]))


def out_of_fold_probabilities(
    features: Any, labels: Ints, classes: int, rng: np.random.Generator, penalty: float = PENALTY
) -> Floats:
    """Return probabilities from models that were not fitted on the row, shape (n, K); folds have each class's share."""
    fold = np.zeros(len(labels), np.int64)
    for label in range(classes):
        places = rng.permutation(np.flatnonzero(labels == label))
        fold[places] = np.arange(len(places)) % FOLDS
    probabilities = np.zeros((len(labels), classes))
    for number in range(FOLDS):
        test = fold == number
        if test.any():
            weights = fit_softmax(features[~test], labels[~test], classes, penalty)
            probabilities[test] = predict_softmax(features[test], weights)
    return probabilities


def _log_softmax(scores: Floats) -> Floats:
    shifted = scores - scores.max(1, keepdims=True)
    result: Floats = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return result
