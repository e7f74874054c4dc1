"""The gap between models' scores on the public and on the hidden test part: a sign that they have seen the
former. The parts were drawn at random from one pool, so a model that saw neither differs on them by chance
alone. A model is flagged where an exact one-sided test of that, corrected by Holm's method over all models
and all rounds of the task that the viewer sees, is below 5 %: the chance of any false flag among all of them
is then 5 % at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot

from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import row_scores
from dynabench.benchmark.evaluations.score_computation import RATES
from dynabench.benchmark.leaderboards import queries
from dynabench.benchmark.reading import read_board
from dynabench.benchmark.releases import service
from dynabench.benchmark.releases.schemas import GapOut
from dynabench.benchmark.releases.tables import Release
from dynabench.benchmark.standings import Entrant, ScoreCell, ScoredDataset, TaskBoard
from dynabench.kit.settings import Settings
from dynabench.people.accounts.tables import Person
from dynabench.stats.corrections import holm
from dynabench.stats.splits import random_split_p_value

LEVEL = 0.05
"""Chance of any false flag on a task."""


@dataclass(frozen=True)
class ScorePair:
    """A model's scores on the public and the hidden part of one release; `p` is None where rows cannot be counted."""

    release: int
    entrant: Entrant
    public: ScoreCell
    hidden: ScoreCell
    p: float | None


def score_gaps(session: Session, settings: Settings, viewer: Person | None, release: Release) -> list[GapOut]:
    """Return the gap of each model that `viewer` may see and that was scored on both parts, the largest first.

    Submissions whose score on the hidden part is withheld (`evaluations.score_ladder`) are left out: a gap would reveal
    it.
    """
    board = read_board(session, viewer, release.task_id, retired=True)
    releases = [ready for ready, _ in service.ready_releases(session, release.task_id)]
    pairs = [pair for ready in releases for pair in _pairs(session, settings, board, ready)]
    corrected = corrected_p([pair.p for pair in pairs])
    gap_outs = []
    for pair, p in zip(pairs, corrected, strict=True):
        if pair.release == release.id:
            gap, low, high = gap_with_limits(pair.public, pair.hidden, board.primary.direction)
            gap_outs.append(
                GapOut(
                    model=pair.entrant.label,
                    version=pair.entrant.version,
                    entered_at=pair.entrant.entered_at,
                    public=pair.public.value,
                    hidden=pair.hidden.value,
                    gap=gap,
                    low=low,
                    high=high,
                    n=(pair.public.n, pair.hidden.n),
                    p=p,
                    flagged=p is not None and p <= LEVEL,
                )
            )
    return sorted(gap_outs, key=lambda pair: (-pair.gap, pair.model))


def corrected_p(values: Sequence[float | None]) -> list[float | None]:
    """Return the p values after Holm's correction over all values that are not None."""
    known_values = [value for value in values if value is not None]
    corrected = iter(holm(known_values).tolist() if known_values else [])
    return [None if value is None else next(corrected) for value in values]


def _pairs(session: Session, settings: Settings, board: TaskBoard, release: Release) -> list[ScorePair]:
    data = {entry.version_id: entry for entry in board.datasets}
    test, hidden = data.get(release.test_id or 0), data.get(release.hidden_id or 0)
    if test is None or hidden is None:
        return []
    primary = board.primary
    both = [
        (entrant, public, secret)
        for entrant in board.entrants
        if not entrant.anonymous and not board.held(entrant, hidden)
        if (public := board.cell(entrant, test, primary)) is not None
        and (secret := board.cell(entrant, hidden, primary)) is not None
    ]
    if primary.name in RATES:
        counts = [(round(public.value * public.n), round(secret.value * secret.n)) for _, public, secret in both]
        tests: list[float | None] = [
            random_split_p_value(first, public.n, second, secret.n)
            for (first, second), (_, public, secret) in zip(counts, both, strict=True)
        ]
    else:
        tests = _by_rows(session, settings, [entry.id for entry, _, _ in both], test, hidden)
    return [ScorePair(release.id, *entry, p) for entry, p in zip(both, tests, strict=True)]


def _by_rows(
    session: Session, settings: Settings, submissions: Sequence[int], test: ScoredDataset, hidden: ScoredDataset
) -> list[float | None]:
    """The p values by rows that are answered right by the task's rule; None where row scores were not stored."""
    counts: list[dict[int, tuple[int, int]]] = []
    for item in (test, hidden):
        right: dict[int, tuple[int, int]] = {}
        for evaluation in session.scalars(queries.finished_evaluations(submissions, item.version_id)):
            rows = row_scores.read_row_scores(settings, evaluation.id)
            if rows is not None:
                right[evaluation.submission_id] = (int((rows[1] > 0.5).sum()), rows.shape[1])
        counts.append(right)
    public, secret = counts
    return [
        random_split_p_value(*public[item], *secret[item]) if item in public and item in secret else None
        for item in submissions
    ]


def gap_with_limits(
    public: ScoreCell, hidden: ScoreCell, direction: int = 1
) -> tuple[float, float | None, float | None]:
    """Return how much better the first score is than the second, with limits; these are None where a score has none.

    The limits follow from those of both scores, whose rows are independent of each other: Zou and Donner,
    Statistics in Medicine 27 (2008) 1693-1702.
    """
    value = public.value - hidden.value
    if None in (public.low, public.high, hidden.low, hidden.high):
        return direction * value, None, None
    down = hypot(public.value - (public.low or 0.0), (hidden.high or 0.0) - hidden.value)
    up = hypot((public.high or 0.0) - public.value, hidden.value - (hidden.low or 0.0))
    low, high = value - down, value + up
    return (value, low, high) if direction > 0 else (-value, -high, -low)
