"""Errors that models share: how many models each fooling example fools, and which models fall together.

Pure functions. The transfer rate of an example that fools some model is the share of the other models
that it fools too.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Fooled = NDArray[np.bool_]
"""(M, N): whether each model was fooled by each row."""


@dataclass(frozen=True)
class Transfer:
    """`order` puts models that fall together next to each other, and all else is in the models' given order.

    `rates` are error rates (M,); `counts[k]` is the number of rows that fool exactly k models (M + 1,); `shares[i, j]`
    is the share of the rows that fool i which also fool j, NaN where nothing fools i (M, M); `mean` is the mean
    transfer rate of rows that fool at least one, None without such rows or with one model.
    """

    order: tuple[int, ...]
    rates: NDArray[np.float64]
    counts: NDArray[np.int64]
    shares: NDArray[np.float64]
    mean: float | None
    rows: int


def transfer(fooled: Fooled) -> Transfer:
    """Return how M models share their errors on the same N rows; `fooled` has shape (M, N)."""
    models, rows = fooled.shape
    # Whole numbers below 2**24 are exact in float32, whose product is the quick one.
    together = (fooled.astype(np.float32) @ fooled.astype(np.float32).T).astype(np.float64)
    errors = np.diag(together)
    shares = np.full((models, models), np.nan)
    np.divide(together, errors[:, None], out=shares, where=errors[:, None] > 0)
    of = fooled.sum(0)
    counts = np.bincount(of, minlength=models + 1).astype(np.int64)
    some = of[of > 0]
    mean = float(((some - 1) / (models - 1)).mean()) if models > 1 and some.size else None
    rates = errors / rows if rows else np.zeros(models)
    return Transfer(_order(together), rates, counts, shares, mean, rows)


def _order(together: NDArray[np.float64]) -> tuple[int, ...]:
    """Leaves of the average-linkage tree over Jaccard distances of the models' errors, neighbours as near as can be."""
    models = len(together)
    if models < 3:
        return tuple(range(models))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    errors = np.diag(together)
    either = errors[:, None] + errors[None, :] - together
    distance = 1 - np.divide(together, either, out=np.ones(together.shape), where=either > 0)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average", optimal_ordering=models <= 200)
    return tuple(int(each) for each in leaves_list(tree))
