"""The area under a ROC curve, of many weightings of the same examples at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynabench.evaluate.columns import Floats


def roc_area(scores: Floats, positive: NDArray[np.bool_], weights: NDArray[Any], max_fpr: float = 1) -> Floats:
    """Return the area for scores (U,), classes (U,) and weights (..., U), shape (...).

    NaN where a class has no weight.

    For a `max_fpr` below 1 the partial area, standardised so that chance gives 0.5: McClish (1989), equation 5.
    Equal scores are one step of the curve, with a straight line: half a point for each tie.
    """
    if not len(scores):
        return np.full(weights.shape[:-1], np.nan)
    order = np.argsort(-scores)
    ranked = scores[order]
    steps = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    is_positive = positive[order]
    sorted_weights = weights[..., order]
    hits = np.add.reduceat(sorted_weights * is_positive, steps, axis=-1)
    alarms = np.add.reduceat(sorted_weights * ~is_positive, steps, axis=-1)
    hit_sums = np.cumsum(hits, axis=-1)
    all_hits, all_alarms = hit_sums[..., -1], alarms.sum(-1)
    defined = (all_hits > 0) & (all_alarms > 0)
    if max_fpr < 1:
        alarms, hit_sums, hits = _until(max_fpr, alarms, hit_sums, hits)
    below = (alarms * (hit_sums - hits / 2)).sum(-1)
    share: Floats = np.divide(below, all_hits * all_alarms, out=np.full(below.shape, np.nan), where=defined)
    if max_fpr == 1:
        return share
    least = max_fpr**2 / 2
    standard: Floats = 0.5 * (1 + (share - least) / (max_fpr - least))
    return standard


def _until(max_fpr: float, alarms: Any, hit_sums: Any, hits: Any) -> tuple[Any, Any, Any]:
    """The steps of the curve, of which that over `max_fpr` ends there, and those beyond have no width."""
    after = np.cumsum(alarms, axis=-1)
    limit = max_fpr * after[..., -1:]
    alarms_kept = np.clip(limit - (after - alarms), 0, alarms)
    part = np.divide(alarms_kept, alarms, out=np.zeros(alarms_kept.shape), where=alarms > 0)
    part_hits = np.where(alarms > 0, hits * part, hits)
    return alarms_kept, hit_sums - hits + part_hits, part_hits
