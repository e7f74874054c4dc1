"""Labels that are probably wrong, from probabilities of a classifier that was not trained on them.

A class's threshold is the mean probability that its own rows get for it. A row counts for the most probable of the
classes whose threshold it reaches; where that is another than its label, the label is doubtful. Source: Northcutt,
Jiang and Chuang, Confident learning: estimating uncertainty in dataset labels, JAIR 70 (2021), sections 3.1 and 3.2.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LabelDoubts:
    """The confident joint, shape (K, K): rows are labels, columns the classes that rows count for; and the doubtful
    rows, the most doubtful first, with the class that each counts for. `noise` estimates the share of wrong labels:
    the joint outside its diagonal, scaled to the number of rows of each label.
    """

    joint: Ints
    rows: Ints
    suggested: Ints
    noise: float


def find_doubtful_labels(labels: Ints, probabilities: Floats) -> LabelDoubts:
    """Return the doubtful ones of labels, shape (n,), by probabilities out of the training set, shape (n, K).

    Doubtful rows are ordered by their label's probability minus that of the suggested class. Raises ValueError for
    a class without rows.
    """
    n, classes = probabilities.shape
    sizes = np.bincount(labels, minlength=classes)
    if not sizes.all():
        raise ValueError(f"class {int((sizes == 0).argmax())} has no rows: leave it out")
    own = probabilities[np.arange(n), labels]
    thresholds = np.bincount(labels, own, classes) / sizes
    reached = probabilities >= thresholds - 1e-12
    counted = np.where(reached, probabilities, -1.0).argmax(1)
    confident = reached.any(1)
    joint = np.zeros((classes, classes), np.int64)
    np.add.at(joint, (labels[confident], counted[confident]), 1)
    doubtful = np.flatnonzero(confident & (counted != labels))
    margins = own[doubtful] - probabilities[doubtful, counted[doubtful]]
    order = np.argsort(margins, kind="stable")
    of_label = joint / np.maximum(joint.sum(1, keepdims=True), 1) * (sizes / n)[:, None]
    noise = float(of_label.sum() - np.trace(of_label))
    return LabelDoubts(joint, doubtful[order], counted[doubtful][order], noise)
