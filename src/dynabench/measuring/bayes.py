"""A bag-of-words classifier, naive Bayes, cross-validated: on the labels as they are, and on many shuffles at once.

Counts of words by label are sums, so that those of a training set are those of all rows without the fold's, and those
of hundreds of shuffles are one product of arrays. Source: Manning, Raghavan and Schütze, Introduction to Information
Retrieval (2008), chapter 13 (multinomial naive Bayes over words that are present or not, with one added to counts).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
FOLDS = 5
GROUPS = 2 * FOLDS
"""From so many groups on, folds are made of whole groups."""
AT_ONCE = 40
"""Shuffles that are counted together."""


def folds(groups: Ints, rng: np.random.Generator) -> Ints:
    """The fold of each row, shape (n,): whole groups (writers) where there are enough, dealt out by size, else rows."""
    sizes = np.bincount(groups)
    if len(sizes) < GROUPS:
        return rng.permutation(np.arange(len(groups)) % FOLDS)
    load, of = np.zeros(FOLDS), np.zeros(len(sizes), np.int64)
    for group in np.lexsort((rng.random(len(sizes)), -sizes)):
        of[group] = load.argmin()
        load[of[group]] += sizes[group]
    return of[groups]


def predicted(present: Any, labels: Ints, fold: Ints, classes: int) -> Ints:
    """What naive Bayes says of rows that it was not fitted on, for each set of labels: both of shape (times, n).

    `present` is a sparse array of 0 and 1, shape (n, words).
    """
    parts = [_some(present, labels[at : at + AT_ONCE], fold, classes) for at in range(0, len(labels), AT_ONCE)]
    return np.concatenate(parts)


def _some(present: Any, labels: Ints, fold: Ints, classes: int) -> Ints:
    times, n = labels.shape
    onehot = (labels[:, None, :] == np.arange(classes)[:, None]).reshape(times * classes, n).T.astype(float)
    words, rows = present.T @ onehot, onehot.sum(0)
    found = np.zeros((times, n), np.int64)
    for each in range(FOLDS):
        held = fold == each
        if not held.any():
            continue
        counts = words - present[held].T @ onehot[held] + 1
        prior = np.log(rows - onehot[held].sum(0) + 1)
        scores = present[held] @ np.log(counts / counts.sum(0)) + prior
        found[:, held] = scores.reshape(-1, times, classes).argmax(2).T
    return found
