"""Submissions that the platform enters by itself: a round's targets, and baselines of training sets.

Targets are entered so that a released round is a board with models. Baselines, rows at random and the whole pool, say
what choosing is worth; a new version of the pool has its own, and those of the version before stay.
"""

from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import queries, submission_sources, submissions, training_sets
from dynabench.benchmark.registry.tables import Submission
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.models import catalog, validity
from dynabench.rounds import service as rounds
from dynabench.rounds.service import record_act


def enter_targets(payload: dict[str, Any]) -> dict[str, Any]:
    """Run the workflow: enter the targets of the `round` of `task` that are not entered yet; again, it enters none."""
    return submit_targets(payload["task"], payload["round"])


@DBOS.step(name="enter_targets.enter", retries_allowed=True)
def submit_targets(task: str, number: int) -> dict[str, Any]:
    """Enter them in one transaction; their submissions' ids."""
    return {"entered": jobs.database().write(submit_missing_targets, task, number)}


def submit_missing_targets(session: Session, task: str, number: int) -> list[int]:
    """Enter those targets that this machine has, that fit the task's newest config and that are not entered.

    None where models converse or draw: such answers are evaluated by people alone.
    """
    rounds.lock_task(session, task)
    config = rounds.newest_config(session, task)
    if config.chat is not None or config.drawing is not None:
        return []
    entered = []
    for target in rounds.round_of(session, task, number).targets:
        try:
            card = catalog.entry(target.model, target.version).card
        except errors.NotFound:  # another machine's, which no evaluation here can load
            continue
        if card is None or validity.answer_problems(config, card):
            continue
        if session.scalar(queries.submission_of_model(task, card.name, card.version)) is None:
            entered.append(submissions.submit_installed(session, None, task, card).id)
    return entered


NAMES = {"random": "random-rows", "all": "whole-pool"}
READMES = {
    "random": _("Submitted by the platform: random rows of the pool, as many as a training set may have."),
    "all": _("Submitted by the platform: all rows of the pool, more than a training set may have."),
}


def enter_baselines(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: enter the baselines that the `task` of `payload` lacks; again, it enters none."""
    return submit_baselines(payload["task"])


@DBOS.step(name="enter_baselines.enter", retries_allowed=True)
def submit_baselines(task: str) -> dict[str, Any]:
    """Enter them in one transaction; their ids."""
    return {"entered": jobs.database().write(submit_missing_baselines, task)}


def submit_missing_baselines(session: Session, task: str) -> list[int]:
    """Enter the baselines that are not there for the pool's newest version; none where there is no pool."""
    rounds.lock_task(session, task)
    config = rounds.newest_config(session, task)
    try:
        pool = submission_sources.training_pool(session, config)
    except errors.Conflict:
        return []
    sources = [item.source for item in session.scalars(queries.baseline_submissions(task))]
    missing_baselines = [item for item in training_sets.BASELINES if pool | {"baseline": item} not in sources]
    return [_enter(session, task, item, pool) for item in missing_baselines]


def _enter(session: Session, task: str, baseline: str, pool: dict[str, Any]) -> int:
    submission = Submission(
        task_id=task, kind="training_set", name=_name(session, task, baseline), source=pool | {"baseline": baseline},
        readme=READMES[baseline],
    )  # fmt: skip
    session.add(submission)
    session.flush()
    submissions.begin_check(session, submission, None)
    record_act(
        session, None, "submission.sent", task=task, submission=submission.id, name=submission.name, as_=submission.kind
    )
    return submission.id


def _name(session: Session, task: str, baseline: str) -> str:
    """The name of a task's baseline, unique even where a person has submitted a model of that name."""
    name = base_name = f"{task[:44]}-{NAMES[baseline]}"
    number = 1
    while _foreign(session, task, name):
        number += 1
        name = f"{base_name}-{number}"
    return name


def _foreign(session: Session, task: str, name: str) -> bool:
    same = session.scalars(queries.submissions_named(name))
    return any(submission.task_id != task or "baseline" not in submission.source for submission in same)
