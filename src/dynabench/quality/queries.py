"""Every `select` over votes for estimates, with its cost."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, func, select

from dynabench.collection.tables import Standing
from dynabench.people.accounts.tables import Person
from dynabench.quality.tables import QualityEstimate
from dynabench.rounds.tables import Round
from dynabench.validation.queries import UNDONE, VALIDATED
from dynabench.validation.tables import Validation

NEWEST = 5_000
"""Votes of all tasks that are looked at for tasks with new ones."""


def newest_votes(task_id: str, limit: int) -> Select[Any]:
    """The newest votes of a task that stand, newest first: walks its examples and their votes once."""
    names = ("id", "example_id", "person_id", "vote", "by_owner", "blind_answer", "values")
    return (
        select(*(getattr(Validation, name) for name in names), Standing.round_id, Standing.verdict)
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Round.task_id == task_id, ~UNDONE)
        .order_by(Validation.id.desc())
        .limit(limit)
    )


def tasks_with_new_votes() -> Select[str, int]:
    """Select the tasks that the newest votes of the platform belong to, with the newest of each: one index range."""
    newest = select(Validation.id, Validation.example_id).order_by(Validation.id.desc()).limit(NEWEST).subquery()
    return (
        select(Round.task_id, func.max(newest.c.id))
        .join(Standing, Standing.example_id == newest.c.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(Round.state.in_(VALIDATED))
        .group_by(Round.task_id)
    )


def estimates_of(task_id: str) -> Select[QualityEstimate]:
    """The stored estimates of a task: one range of the primary key."""
    return select(QualityEstimate).where(QualityEstimate.task_id == task_id).order_by(QualityEstimate.number)


def people_named(ids: Sequence[int]) -> Select[Person]:
    """Some people, by id: a probe each."""
    return select(Person).where(Person.id.in_(ids))


def voted_examples(round_id: int, after: int, limit: int) -> Select[int]:
    """Select the examples of a round with votes, by id above `after`: walks the round's standings."""
    return (
        select(Standing.example_id)
        .where(Standing.round_id == round_id, Standing.example_id > after, Standing.votes > 0)
        .order_by(Standing.example_id)
        .limit(limit)
    )
