"""The scores of hidden datasets that are shown to a person who submits again and again: the ladder
(`stats.ladder`).

On each hidden dataset the scores of a person's later submission are shown only where its primary metric is
significantly better than that of the submission whose scores are shown so far: by more than a one-sided
paired t test asks for, whose standard error is that of the stored replicates. Otherwise, worse ones included,
the scores of that submission are shown again, so that nobody learns from many tries what fits the hidden rows
by chance.

A person's public, anonymous and private submissions have ladders of their own, so that a row reveals nothing
about a submission that its readers may not know. Of an anonymous submission that is withheld nothing is
shown: equal scores would reveal its submitter.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries
from dynabench.benchmark.evaluations.measures import REPLICATES, Measure, unpack_replicates
from dynabench.people.disclosure import is_anonymous
from dynabench.stats.ladder import parameter_free_ladder_scores

LEVEL = 0.95
NO_SCORES = -1
"""In the place of a submission's number: that nothing is told."""


def score_sources(
    people: Sequence[int | None],
    visibilities: Sequence[str],
    values: NDArray[np.floating],
    replicates: NDArray[np.floating],
    rows: int,
    direction: int,
) -> NDArray[np.intp]:
    """Return the submission whose scores are shown for each submission to one hidden dataset, shape (M,): its own
    index, an earlier one's, or `NO_SCORES`.

    `people` (M,) submitted in this order, None is the platform itself. `values` (M,) are scores of the primary
    metric over the dataset's `rows`, `replicates` (M, B) theirs, NaN where there is none; `direction` is -1 where
    less is better. A submission without a score gets none.
    """
    source_places = np.arange(len(people))
    ladders: dict[tuple[int, str], list[int]] = {}
    for place, (person, visibility) in enumerate(zip(people, visibilities, strict=True)):
        if person is not None and np.isfinite(values[place]):
            ladders.setdefault((person, visibility), []).append(place)
    for (_person, visibility), own in ladders.items():
        if len(own) < 2:
            continue
        climbed = parameter_free_ladder_scores(values[own].tolist(), replicates[own].T, max(rows, 2), direction, LEVEL)
        best = np.array([own[step.best or 0] for step in climbed])
        source_places[own] = np.where(best == own, best, NO_SCORES) if is_anonymous(visibility) else best
    return source_places


def withheld_sources(session: Session, task: str, rows: dict[int, int], primary: Measure) -> dict[tuple[int, int], int]:
    """Return the submissions whose scores are withheld: the id of the one shown instead or `NO_SCORES`, by
    submission and hidden dataset version. `rows` has the versions' numbers of rows."""
    withheld: dict[tuple[int, int], int] = {}
    if not rows:
        return withheld
    entered = session.execute(queries.submissions_entered(task)).all()
    places = {row.id: place for place, row in enumerate(entered)}
    values = {version: np.full(len(entered), np.nan) for version in rows}
    drawn = {version: np.full((len(entered), REPLICATES), np.nan) for version in rows}
    for row in session.execute(queries.scores_by_metric(task, list(rows), primary.name)):
        position = places[row.submission_id]
        values[row.version_id][position] = row.value
        drawn[row.version_id][position] = unpack_replicates(row.replicates) if row.replicates else row.value
    people, visibilities = [row.person_id for row in entered], [row.visibility for row in entered]
    for version, count in rows.items():
        sources_shown = score_sources(people, visibilities, values[version], drawn[version], count, primary.direction)
        for place, source in enumerate(sources_shown.tolist()):
            if source != place:
                withheld[entered[place].id, version] = NO_SCORES if source == NO_SCORES else entered[source].id
    return withheld
