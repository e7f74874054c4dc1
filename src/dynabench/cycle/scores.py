"""The scores of the present targets and candidates of a turn on the rounds: awaited, then read for the rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations import queries as scoring_queries
from dynabench.benchmark.evaluations import queueing, row_scores
from dynabench.benchmark.evaluations.measures import find_measure, unpack_replicates
from dynabench.benchmark.evaluations.queries import OPEN_STATES
from dynabench.benchmark.evaluations.tables import EvaluationState
from dynabench.cycle import neutral_guard, queries, training_sources
from dynabench.cycle.promotion import ModelScores, NeutralScore
from dynabench.cycle.tables import CycleTurn
from dynabench.cycle.training_sources import RoundRelease
from dynabench.datasets import stored
from dynabench.kit.settings import Settings
from dynabench.rounds import service as rounds
from dynabench.stats import replicates

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class RoundRows:
    """A model's answers to one round's test part: `right` (n,), and the primary metric with replicates `drawn` (B,)."""

    right: BoolArray
    value: float
    drawn: NDArray[np.float64]


def test_versions(released: Sequence[RoundRelease]) -> list[int]:
    """Return the ids of the test parts of releases, public and hidden, that all models are scored on."""
    return [id for round_release in released for id in (round_release.test, round_release.hidden) if id is not None]


def count_remaining(session: Session, settings: Settings, turn: int, submissions: Sequence[int]) -> tuple[int, int]:
    """Count the evaluations of these submissions on the turn's rounds and neutral data: (unfinished, all)."""
    cycle_turn = session.get_one(CycleTurn, turn)
    version_ids = test_versions(
        training_sources.ancestor_releases(session, settings, cycle_turn)
    ) + neutral_guard.version_ids(neutral_guard.neutral_datasets(session, cycle_turn))
    going = 0
    for submission in submissions:
        evaluations = list(session.scalars(queries.evaluations_on(submission, version_ids)))
        missing = {version.id for _, version in session.execute(scoring_queries.missing_evaluations(submission))}
        going += sum(evaluation.state in OPEN_STATES for evaluation in evaluations) + len(missing & set(version_ids))
    return going, len(version_ids) * len(submissions)


def queue_evaluations(session: Session, submissions: Sequence[int]) -> None:
    """Queue the evaluations that these submissions lack; a second call queues nothing."""
    for submission in submissions:
        queueing.queue_evaluations(session, {"submission": submission})


def read_scores(
    session: Session, settings: Settings, task: str, submission: int, released: Sequence[RoundRelease]
) -> list[RoundRows] | None:
    """Return a model's scores on the public test part of each release that has one; None if any score is missing."""
    primary = find_measure(rounds.newest_config(session, task).metrics.primary)
    scores = []
    for round_release in released:
        if round_release.test is None:
            continue
        evaluation = session.scalars(queries.evaluations_on(submission, [round_release.test])).first()
        if evaluation is None or evaluation.state != EvaluationState.DONE:
            return None
        score = session.scalar(queries.metric_score(evaluation.id, primary.name))
        rows = row_scores.read_row_scores(settings, evaluation.id)
        if score is None or score.replicates is None or rows is None:
            return None
        sign = primary.direction
        scores.append(RoundRows(rows[1] > 0.5, sign * score.value, sign * unpack_replicates(score.replicates)))
    return scores


def fooling_masks(settings: Settings, released: Sequence[RoundRelease]) -> list[BoolArray]:
    """Return one mask per public test part: True (n,) for rows that fooled the targets of their round."""
    tests = [round_release for round_release in released if round_release.test is not None]
    return [
        np.array(["fooled" in row.tags for row in stored.read(settings, round_release.test_digest)], bool)
        for round_release in tests
    ]


def model_scores(
    name: str,
    rows: Sequence[RoundRows],
    fooled: Sequence[BoolArray],
    digests: Sequence[str],
    on_neutral: Mapping[str, NeutralScore],
) -> ModelScores:
    """Return a model's scores in the form that the rules compare."""
    caught = np.concatenate([round_rows.right[mask] for round_rows, mask in zip(rows, fooled, strict=True)])
    redrawn = replicates.mean_replicates(caught, "".join(digests)) if len(caught) else np.zeros(1)
    return ModelScores(
        name=name,
        values=np.array([round_rows.value for round_rows in rows]),
        drawn=np.stack([round_rows.drawn for round_rows in rows]),
        caught=caught,
        redrawn=redrawn,
        neutral=on_neutral,
    )
