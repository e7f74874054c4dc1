"""What is told of hidden datasets when somebody submits again and again: the ladder (`stats.ladder`).

On each hidden dataset the scores of a person's later submission are told only where its primary metric is significantly
better than that of the submission whose scores are told so far: by more than a one-sided paired t test asks for, whose
standard error is that of the stored replicates. Otherwise, worse ones included, the scores of that submission are told
again, so that nobody learns from many tries what fits the hidden rows by chance.

Somebody's public, anonymous and private submissions climb ladders of their own, so that a row shows nothing of one that
its readers may not know. Of an anonymous submission that is held back nothing is told: equal scores would say whose it
is.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.benchmark.disclosure import is_anonymous
from dynabench.scoring import queries
from dynabench.scoring.measures import REPLICATES, Measure, unpacked
from dynabench.stats.ladder import parameter_free_ladder_scores

LEVEL = 0.95
NOTHING = -1
"""In the place of a submission's number: that nothing is told."""


def sources(
    people: Sequence[int | None],
    visibilities: Sequence[str],
    values: NDArray[np.floating],
    replicates: NDArray[np.floating],
    rows: int,
    direction: int,
) -> NDArray[np.intp]:
    """Whose scores are told of each submission to one hidden dataset, shape (M,): its own place, an earlier one's, or
    `NOTHING`.

    `people` (M,) submitted in this order, None is the platform itself. `values` (M,) are scores of the primary metric
    over the dataset's `rows`, `replicates` (M, B) theirs, NaN where there is none; `direction` is -1 where less is
    better. A submission without a score is told none.
    """
    found = np.arange(len(people))
    ladders: dict[tuple[int, str], list[int]] = {}
    for place, (person, visibility) in enumerate(zip(people, visibilities, strict=True)):
        if person is not None and np.isfinite(values[place]):
            ladders.setdefault((person, visibility), []).append(place)
    for (_person, visibility), own in ladders.items():
        if len(own) < 2:
            continue
        climbed = parameter_free_ladder_scores(values[own].tolist(), replicates[own].T, max(rows, 2), direction, LEVEL)
        best = np.array([own[each.best or 0] for each in climbed])
        found[own] = np.where(best == own, best, NOTHING) if is_anonymous(visibility) else best
    return found


def told(session: Session, task: str, rows: dict[int, int], primary: Measure) -> dict[tuple[int, int], int]:
    """Whose scores are told of submissions that are held back: the other's number or `NOTHING`, by submission and
    hidden dataset version. `rows` has the versions' numbers of rows.
    """
    found: dict[tuple[int, int], int] = {}
    if not rows:
        return found
    entered = session.execute(queries.entered(task)).all()
    places = {each.id: place for place, each in enumerate(entered)}
    values = {version: np.full(len(entered), np.nan) for version in rows}
    drawn = {version: np.full((len(entered), REPLICATES), np.nan) for version in rows}
    for each in session.execute(queries.told(task, list(rows), primary.name)):
        at = places[each.submission_id]
        values[each.version_id][at] = each.value
        drawn[each.version_id][at] = unpacked(each.replicates) if each.replicates else each.value
    people, visibilities = [each.person_id for each in entered], [each.visibility for each in entered]
    for version, count in rows.items():
        shown = sources(people, visibilities, values[version], drawn[version], count, primary.direction)
        for place, source in enumerate(shown.tolist()):
            if source != place:
                found[entered[place].id, version] = NOTHING if source == NOTHING else entered[source].id
    return found
