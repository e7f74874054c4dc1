"""Training sets that the platform enters by itself, on the way that people's take: rows at random, and the whole pool.

They say what choosing is worth. A new version of the pool has its own; those of the version before stay.
"""

from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench import errors, jobs
from dynabench.language import _
from dynabench.registry import submission_queries, submission_sources, submissions, training_sets
from dynabench.registry.tables import Submission
from dynabench.rounds import service as rounds
from dynabench.rounds.service import act

NAMES = {"random": "random-rows", "all": "whole-pool"}
READMES = {
    "random": _("Entered by the platform: as many rows of the pool as a training set may have, drawn at random."),
    "all": _("Entered by the platform: all rows of the pool, more than a training set may have."),
}


def enter_baselines(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: enter the baselines that the `task` of `payload` lacks; again, it enters none."""
    return enter(payload["task"])


@DBOS.step(name="enter_baselines.enter", retries_allowed=True)
def enter(task: str) -> dict[str, Any]:
    """Enter them in one transaction; their ids."""
    return {"entered": jobs.database().write(missing, task)}


def missing(session: Session, task: str) -> list[int]:
    """Enter the baselines that are not there for the pool's newest version; none where there is no pool."""
    rounds.task_locked(session, task)
    config = rounds.newest_config(session, task)
    try:
        pool = submission_sources.pool(session, config)
    except errors.Conflict:
        return []
    known = [each.source for each in session.scalars(submission_queries.baselines(task))]
    wanted = [each for each in training_sets.BASELINES if pool | {"baseline": each} not in known]
    return [_enter(session, task, each, pool) for each in wanted]


def _enter(session: Session, task: str, baseline: str, pool: dict[str, Any]) -> int:
    made = Submission(
        task_id=task, kind="training_set", name=_name(session, task, baseline), source=pool | {"baseline": baseline},
        readme=READMES[baseline],
    )  # fmt: skip
    session.add(made)
    session.flush()
    submissions.begin(session, made, None)
    act(session, None, "submission.sent", task=task, submission=made.id, name=made.name, as_=made.kind)
    return made.id


def _name(session: Session, task: str, baseline: str) -> str:
    """What a baseline is called: each task's has a name of its own, whatever people called theirs."""
    name = wanted = f"{task[:44]}-{NAMES[baseline]}"
    number = 1
    while _foreign(session, task, name):
        number += 1
        name = f"{wanted}-{number}"
    return name


def _foreign(session: Session, task: str, name: str) -> bool:
    same = session.scalars(submission_queries.named(name))
    return any(each.task_id != task or "baseline" not in each.source for each in same)
