"""A bag-of-words classifier, naive Bayes, cross-validated: on the labels as they are, and on many shuffles at once.

Counts of words by label are sums, so that those of a training set are those of all rows without the fold's, and those
of hundreds of shuffles are one product of arrays. Source: Manning, Raghavan and Schütze, Introduction to Information
Retrieval (2008), chapter 13 (multinomial naive Bayes over words that are present or not, with one added to counts).
"""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
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


def assign_folds(groups: Ints, rng: np.random.Generator) -> Ints:
    """Return the fold of each row, shape (n,).

    Whole groups (writers) are dealt out by size where there are enough, else single rows.
    """
    sizes = np.bincount(groups)
    if len(sizes) < GROUPS:
        return rng.permutation(np.arange(len(groups)) % FOLDS)
    load, fold_of_group = np.zeros(FOLDS), np.zeros(len(sizes), np.int64)
    for group in np.lexsort((rng.random(len(sizes)), -sizes)):
        fold_of_group[group] = load.argmin()
        load[fold_of_group[group]] += sizes[group]
    return fold_of_group[groups]


def cross_validated_predictions(present: Any, labels: Ints, fold: Ints, classes: int) -> Ints:
    """Return naive Bayes' predictions for rows outside its training set, for each set of labels; shapes (times, n).

    `present` is a sparse array of 0 and 1, shape (n, words).
    """
    parts = [_predict_batch(present, labels[at : at + AT_ONCE], fold, classes) for at in range(0, len(labels), AT_ONCE)]
    return np.concatenate(parts)


def _predict_batch(present: Any, labels: Ints, fold: Ints, classes: int) -> Ints:
    times, n = labels.shape
    onehot = (labels[:, None, :] == np.arange(classes)[:, None]).reshape(times * classes, n).T.astype(float)
    words, rows = present.T @ onehot, onehot.sum(0)
    predictions = np.zeros((times, n), np.int64)
    for number in range(FOLDS):
        test_rows = fold == number
        if not test_rows.any():
            continue
        counts = words - present[test_rows].T @ onehot[test_rows] + 1
        prior = np.log(rows - onehot[test_rows].sum(0) + 1)
        scores = present[test_rows] @ np.log(counts / counts.sum(0)) + prior
        predictions[:, test_rows] = scores.reshape(-1, times, classes).argmax(2).T
    return predictions


def bag_of_words(texts: Sequence[Sequence[str]], least: int, pairs: bool = False) -> tuple[Any, list[str]]:
    """Return the presence of words in `texts` (lists of words) as a sparse array, shape (n, words), and the words.

    Words that fewer than `least` texts have are left out; with `pairs`, two words in a row count as one more word.
    """
    from scipy.sparse import csr_array

    sets = [sorted({*words, *(map(" ".join, pairwise(words)) if pairs else ())}) for words in texts]
    counts = Counter(word for present_words in sets for word in present_words)
    vocabulary = sorted(word for word, count in counts.items() if count >= least)
    number = {word: place for place, word in enumerate(vocabulary)}
    places = [[number[word] for word in present_words if word in number] for present_words in sets]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in places])]).astype(np.int64)
    present_words = np.array([place for row in places for place in row], np.int64)
    return csr_array(
        (np.ones(len(present_words)), present_words, starts), shape=(len(texts), len(vocabulary))
    ), vocabulary
