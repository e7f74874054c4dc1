"""What is told of hidden datasets when somebody submits again and again: the ladder (`stats.ladder`).

On each hidden dataset the scores of a person's later submission are told only where its primary metric is significantly
better than that of the submission whose scores are told so far: by more than a one-sided paired t test asks for, whose
standard error is that of the stored replicates. Otherwise, worse ones included, the scores of that submission are told
again, so that nobody learns from many tries what fits the hidden rows by chance.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynabench.stats.ladder import free_ladder

LEVEL = 0.95


def sources(
    people: Sequence[int | None],
    values: NDArray[np.floating],
    replicates: NDArray[np.floating],
    rows: int,
    direction: int,
) -> NDArray[np.intp]:
    """Whose scores are told of each submission to one hidden dataset, shape (M,): its own place, or an earlier one's.

    `people` (M,) submitted in this order, None is the platform itself. `values` (M,) are scores of the primary metric
    over the dataset's `rows`, `replicates` (M, B) theirs, NaN where there is none; `direction` is -1 where less is
    better. A submission without a score is told none.
    """
    found = np.arange(len(people))
    places: dict[int, list[int]] = {}
    for place, person in enumerate(people):
        if person is not None and np.isfinite(values[place]):
            places.setdefault(person, []).append(place)
    for own in places.values():
        if len(own) < 2:
            continue
        told = free_ladder(values[own].tolist(), replicates[own].T, max(rows, 2), direction, LEVEL)
        found[own] = [own[each.best or 0] for each in told]
    return found
