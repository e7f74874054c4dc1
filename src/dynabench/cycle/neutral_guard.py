"""The guard on neutral data: no candidate is promoted that is worse on data that nobody wrote against a model.

Neutral are the task's datasets that come from no round and have 30 rows or more, unless the turn trains on
them. Examples that fool one model say little about ordinary data, so a gain on rounds may cost more there
than it brings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from dynabench.benchmark.evaluations.measures import find_measure, unpack_replicates
from dynabench.benchmark.evaluations.tables import EvaluationState
from dynabench.cycle import queries
from dynabench.cycle.plan import TurnPlan
from dynabench.cycle.promotion import NeutralScore
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets import library_queries
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.rounds import service as rounds
from dynabench.stats.rates import FEW_ROWS


@dataclass(frozen=True)
class NeutralData:
    """A neutral dataset in its current version."""

    name: str
    version: int


def check_datasets(session: Session, task: str, plan: TurnPlan) -> None:
    """Raise `Invalid` for a neutral dataset that the task does not have."""
    for place, name in enumerate(plan.promote.neutral or ()):
        dataset = session.scalar(library_queries.named(task, name))
        if dataset is None or dataset.version_id is None:
            message = _("The task has no dataset %(name)s that models are scored on.", name=name)
            raise errors.Invalid({f"promote.neutral.{place}": message})


def neutral_datasets(session: Session, turn: CycleTurn) -> list[NeutralData]:
    """Return the neutral datasets of a turn, by name."""
    plan, learnt = TurnPlan.model_validate(turn.plan), {item["name"] for item in turn.outside}
    rows = session.execute(queries.neutral_datasets(turn.task_id)).all()
    return [
        NeutralData(dataset.name, version.id)
        for dataset, version in rows
        if dataset.name not in learnt
        and (dataset.name in plan.promote.neutral if plan.promote.neutral is not None else version.rows >= FEW_ROWS)
    ]


def neutral_scores(
    session: Session, turn: CycleTurn, submission: int, datasets: Sequence[NeutralData]
) -> dict[str, NeutralScore]:
    """Return a submission's scores on neutral datasets by name; higher is better.

    A dataset that the submission was not evaluated on, because it is newer, is absent; the value is None where
    the evaluation failed.
    """
    primary = find_measure(rounds.newest_config(session, turn.task_id).metrics.primary)
    score_by_dataset: dict[str, NeutralScore] = {}
    for dataset in datasets:
        evaluation = session.scalars(queries.evaluations_on(submission, [dataset.version])).first()
        if evaluation is None:
            continue
        score = (
            session.scalar(queries.metric_score(evaluation.id, primary.name))
            if evaluation.state == EvaluationState.DONE
            else None
        )
        if score is None or score.replicates is None:
            score_by_dataset[dataset.name] = NeutralScore(None, np.zeros(0))
        else:
            sign = primary.direction
            score_by_dataset[dataset.name] = NeutralScore(
                sign * score.value, sign * unpack_replicates(score.replicates)
            )
    return score_by_dataset


def version_ids(datasets: Sequence[NeutralData]) -> list[int]:
    """Return the ids of the dataset versions that the guard needs scores on."""
    return [dataset.version for dataset in datasets]
