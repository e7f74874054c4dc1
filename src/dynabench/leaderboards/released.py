"""What is told of hidden datasets when somebody submits again and again.

After the ladder of Blum and Hardt, The Ladder: A Reliable Leaderboard for Machine Learning Competitions (2015), with a
paired interval from replicates in place of a fixed step: a later submission of the same person gets scores of its own
on a hidden dataset only where its primary metric clearly differs from that of their best one so far. Otherwise the
best one's scores are told again, so that nobody climbs by noise. Scores that are clearly worse are told as they are:
else a poor model would be shown with a good one's scores.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95


def sources(people: Sequence[int | None], replicates: NDArray[np.floating]) -> NDArray[np.intp]:
    """Whose scores are told of each submission to one hidden dataset, shape (M,): its own place, or an earlier one's.

    `people` (M,) submitted in this order, None is the platform itself; `replicates` (M, B) are of the primary metric,
    more is better, NaN where there is no score.
    """
    found = np.arange(len(people))
    best: dict[int, int] = {}
    for place, person in enumerate(people):
        if person is None or not np.isfinite(replicates[place]).all():
            continue
        if person not in best:
            best[person] = place
            continue
        gain = replicates[place] - replicates[best[person]]
        low, high = np.quantile(gain, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        if low > 0:
            best[person] = place
        elif high >= 0:
            found[place] = best[person]
    return found
