"""Puts a round's targets on its task's leaderboard by themselves, so that a released round is a board with models."""

from typing import Any

from dbos import DBOS
from sqlalchemy.orm import Session

from dynabench.benchmark.registry import submission_queries, submissions
from dynabench.kit import errors, jobs
from dynabench.models import catalog, fit
from dynabench.rounds import service as rounds


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
    rounds.task_locked(session, task)
    config = rounds.newest_config(session, task)
    if config.chat is not None or config.drawing is not None:
        return []
    entered = []
    for target in rounds.round_of(session, task, number).targets:
        try:
            card = catalog.entry(target.model, target.version).card
        except errors.NotFound:  # another machine's, which no evaluation here can load
            continue
        if card is None or fit.problems(config, card):
            continue
        if session.scalar(submission_queries.submission_of_model(task, card.name, card.version)) is None:
            entered.append(submissions.submit_installed(session, None, task, card).id)
    return entered
