"""The guard on neutral data: no candidate takes the targets' place that is worse where nobody wrote against a model.

Neutral are the task's datasets that come from no round, with 30 rows or more, unless the turn learns from them. What
fools one model says little of ordinary data, so a gain on rounds may cost more there than it brings.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sqlalchemy.orm import Session

from dynabench import errors
from dynabench.cycle import queries
from dynabench.cycle.plan import Plan
from dynabench.cycle.promotion import Neutral
from dynabench.cycle.tables import CycleTurn
from dynabench.datasets import library_queries
from dynabench.language import _
from dynabench.rounds import service as rounds
from dynabench.scoring.measures import measure, unpacked
from dynabench.scoring.tables import EvaluationState
from dynabench.stats.rates import FEW_ROWS


@dataclass(frozen=True)
class NeutralData:
    """A neutral dataset in its current version."""

    name: str
    version: int


def check(session: Session, task: str, plan: Plan) -> None:
    """Raise `Invalid` for a neutral dataset that the task does not have."""
    for place, name in enumerate(plan.promote.neutral or ()):
        found = session.scalar(library_queries.named(task, name))
        if found is None or found.version_id is None:
            told = _("The task has no dataset %(name)s that models are scored on.", name=name)
            raise errors.Invalid({f"promote.neutral.{place}": told})


def data(session: Session, turn: CycleTurn) -> list[NeutralData]:
    """The neutral datasets of a turn, by name."""
    plan, learnt = Plan.model_validate(turn.plan), {each["name"] for each in turn.outside}
    rows = session.execute(queries.neutral(turn.task_id)).all()
    return [
        NeutralData(dataset.name, version.id)
        for dataset, version in rows
        if dataset.name not in learnt
        and (dataset.name in plan.promote.neutral if plan.promote.neutral is not None else version.rows >= FEW_ROWS)
    ]


def scores(session: Session, turn: CycleTurn, submission: int, known: Sequence[NeutralData]) -> dict[str, Neutral]:
    """What a submission scored on neutral datasets, higher is better. A dataset is absent where it was not evaluated,
    because the dataset came later; where the evaluation failed its value is None."""
    primary = measure(rounds.newest_config(session, turn.task_id).metrics.primary)
    found: dict[str, Neutral] = {}
    for each in known:
        evaluation = session.scalars(queries.evaluations(submission, [each.version])).first()
        if evaluation is None:
            continue
        score = (
            session.scalar(queries.score(evaluation.id, primary.name))
            if evaluation.state == EvaluationState.DONE
            else None
        )
        if score is None or score.replicates is None:
            found[each.name] = Neutral(None, np.zeros(0))
        else:
            sign = primary.direction
            found[each.name] = Neutral(sign * score.value, sign * unpacked(score.replicates))
    return found


def versions(known: Sequence[NeutralData]) -> list[int]:
    """The dataset versions that models are scored on for the guard."""
    return [each.version for each in known]
