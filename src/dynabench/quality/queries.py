"""Every `select` over votes for estimates, with its cost."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, func, select, text

from dynabench.collection.tables import Standing
from dynabench.people.accounts.tables import Person
from dynabench.quality.tables import Adjudication, QualityEstimate
from dynabench.rounds.tables import Round
from dynabench.stats.verdict import Verdict
from dynabench.validation.queries import OPEN, UNDONE, VALIDATED
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
    newest = (
        select(Validation.id, Validation.example_id)
        .where(~UNDONE)
        .order_by(Validation.id.desc())
        .limit(NEWEST)
        .subquery()
    )
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


def voted_examples(round_id: int, after: int, limit: int) -> Select[int]:
    """Select the examples of a round with votes, by id above `after`: walks the round's standings."""
    return (
        select(Standing.example_id)
        .where(Standing.round_id == round_id, Standing.example_id > after, Standing.votes > 0)
        .order_by(Standing.example_id)
        .limit(limit)
    )


def _undecided(task_id: str, person_id: int, before: int | None) -> list[Any]:
    mine = select(Validation.id).where(Validation.example_id == Standing.example_id, Validation.person_id == person_id)
    conditions = [
        *(Round.task_id == task_id, Round.state.in_(VALIDATED), Standing.author_id != person_id),
        *(~Standing.retracted, ~Standing.hidden, ~mine.where(~UNDONE).exists()),
    ]
    return conditions if before is None else [*conditions, Standing.example_id < before]


def disputed_examples(task_id: str, person_id: int, before: int | None, limit: int) -> Select[int]:
    """Select the newest examples of a task whose votes are used up without a verdict, that a person may decide about.

    A walk over the standings of the task's rounds that are validated.
    """
    return (
        select(Standing.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(*_undecided(task_id, person_id, before), Standing.verdict == Verdict.DISPUTED)
        .order_by(Standing.example_id.desc())
        .limit(limit)
    )


def split_examples(task_id: str, person_id: int, before: int | None, limit: int) -> Select[int]:
    """Select the newest open examples of a task whose votes differ, that a person may decide about.

    A walk over the open standings of the task's rounds, and the votes of each.
    """
    kinds = select(func.count(Validation.vote.distinct())).where(Validation.example_id == Standing.example_id, ~UNDONE)
    return (
        select(Standing.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(*_undecided(task_id, person_id, before), OPEN, Standing.votes > 1, kinds.scalar_subquery() > 1)
        .order_by(Standing.example_id.desc())
        .limit(limit)
    )


def adjudications(task_id: str, before: int | None, limit: int) -> Select[Adjudication, Person]:
    """The newest decisions of experts in a task, with who decided: one range of an index."""
    joined = select(Adjudication, Person).outerjoin(Person, Person.id == Adjudication.by)
    mine = joined.where(Adjudication.task_id == task_id)
    if before is not None:
        mine = mine.where(Adjudication.id < before)
    return mine.order_by(Adjudication.id.desc()).limit(limit)


def latest_decision(example_id: int) -> Select[Adjudication]:
    """The latest decision about an example that was not taken back: the few decisions about it."""
    about = select(Adjudication).where(Adjudication.example_id == example_id, Adjudication.revoked_at.is_(None))
    return about.order_by(Adjudication.id.desc()).limit(1)


def standings_of(example_ids: Collection[int]) -> Select[Standing]:
    """Some standings, by example: a probe of the primary key each."""
    return select(Standing).where(Standing.example_id.in_(example_ids))


def blind_standings(round_id: int) -> Select[Standing]:
    """The standings of a round with blind answers that count: one range of a partial index."""
    live = (~Standing.retracted, ~Standing.hidden)
    return select(Standing).where(Standing.round_id == round_id, text("standings.blind > 0"), *live)
