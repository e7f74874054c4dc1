"""Every `select` over control items and the answers to them, with its cost."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Select, and_, case, exists, func, or_, select

from dynabench.collection.tables import Example, Standing
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.rounds.tables import Context, Round
from dynabench.stats.verdict import LABELS
from dynabench.validation.controls.tables import (
    MEASURED,
    ControlAnswer,
    ControlDecision,
    ControlItem,
    ControlKind,
    ControlPlace,
)
from dynabench.validation.queries import CONTROL, OPEN, UNDONE, VALIDATED
from dynabench.validation.tables import Validation

SHOWABLE = (disclosure.shown_examples(Standing),)


def unseen_items(
    task_id: str, person_id: int, kind: str, own_team: Collection[int], languages: Sequence[str], limit: int
) -> Select[ControlItem]:
    """Some items of a kind that a person has not seen, at random; of examples only those that others wrote, that the
    person never voted on, and whose verdict is still the right vote. Walks the task's items.
    """
    seen = exists().where(ControlPlace.person_id == person_id, ControlPlace.item_id == ControlItem.id)
    voted = exists().where(Validation.person_id == person_id, Validation.example_id == ControlItem.example_id, ~CONTROL)
    decided = exists().where(
        Standing.example_id == ControlItem.example_id,
        Standing.author_id != person_id,
        Standing.verdict == ControlItem.right_vote,
        *SHOWABLE,
    )
    statement = select(ControlItem).where(
        ControlItem.task_id == task_id,
        ControlItem.kind == kind,
        ControlItem.retired_at.is_(None),
        ~seen,
        or_(ControlItem.example_id.is_(None), and_(decided, ~voted)),
    )
    if own_team:
        statement = statement.where(or_(ControlItem.example_id.is_(None), ControlItem.example_id.not_in(own_team)))
    if languages:
        is_readable = exists().where(
            Example.id == ControlItem.example_id,
            Context.id == Example.context_id,
            Context.language.in_(["", *languages]),
        )
        statement = statement.where(or_(ControlItem.example_id.is_(None), is_readable))
    return statement.order_by(func.random()).limit(limit)


def repeatable_votes(person_id: int, round_id: int, newest: int, limit: int) -> Select[Validation]:
    """A person's votes in a round that may be asked again, newest first, without the `newest`.

    None of an example that the person saw as a control before. Walks the person's own votes.
    """
    again = exists().where(ControlPlace.person_id == person_id, ControlPlace.shown_id == Validation.example_id)
    return (
        select(Validation)
        .join(Standing, Standing.example_id == Validation.example_id)
        .where(Validation.person_id == person_id, ~Validation.by_owner, ~UNDONE, Standing.round_id == round_id)
        .where(*SHOWABLE, ~again)
        .order_by(Validation.id.desc())
        .offset(newest)
        .limit(limit)
    )


def covered_examples(person_id: int, round_ids: Collection[int], limit: int) -> Select[int, int]:
    """Select open examples of rounds whose number stood for a control that the person is done with, oldest first.

    One range over the person's own places.
    """
    voted = exists().where(Validation.person_id == person_id, Validation.example_id == Standing.example_id, ~UNDONE)
    return (
        select(Standing.example_id, Standing.round_id)
        .join(ControlPlace, ControlPlace.example_id == Standing.example_id)
        .where(ControlPlace.person_id == person_id, ControlPlace.done_at.is_not(None))
        .where(Standing.round_id.in_(round_ids), OPEN, ~voted)
        .order_by(ControlPlace.done_at, Standing.example_id)
        .limit(limit)
    )


def count_covered(person_id: int, task_id: str, own_team: Select[int]) -> Select[int]:
    """Select the number of a task's examples that `covered_examples` finds, without those of the person's own team."""
    voted = exists().where(Validation.person_id == person_id, Validation.example_id == Standing.example_id, ~UNDONE)
    return (
        select(func.count())
        .select_from(ControlPlace)
        .join(Standing, Standing.example_id == ControlPlace.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(ControlPlace.person_id == person_id, ControlPlace.done_at.is_not(None))
        .where(Round.task_id == task_id, Round.state.in_(VALIDATED), OPEN, ~voted)
        .where(~and_(Round.competition, Standing.example_id.in_(own_team)))
    )


def own_answer(example_id: int, person_id: int) -> Select[ControlAnswer, Validation]:
    """The latest answer of a person under the number of an example that stands: one index range."""
    return (
        select(ControlAnswer, Validation)
        .join(Validation, Validation.id == ControlAnswer.validation_id)
        .where(Validation.person_id == person_id, Validation.example_id == example_id, ~ControlAnswer.taken_back)
        .order_by(Validation.id.desc())
        .limit(1)
    )


def _count(condition: Any) -> Any:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def measured_since(task_id: str, person_id: int, after: int) -> Select[int, int, int]:
    """Select the number of a person's measured answers above an id, that of the right ones, and the newest.

    One index range.
    """
    mine = (ControlAnswer.task_id == task_id, ControlAnswer.person_id == person_id, ~ControlAnswer.taken_back)
    return select(
        func.count(), _count(ControlAnswer.is_right), func.coalesce(func.max(ControlAnswer.validation_id), 0)
    ).where(*mine, ControlAnswer.kind.in_(MEASURED), ControlAnswer.validation_id > after)


def decisions_of(task_id: str, person_id: int) -> Select[ControlDecision]:
    """The decisions about a person in a task, oldest first: one index range."""
    mine = (ControlDecision.task_id == task_id, ControlDecision.person_id == person_id)
    return select(ControlDecision).where(*mine).order_by(ControlDecision.id)


def decisions_in(task_id: str, limit: int) -> Select[ControlDecision, Person]:
    """The decisions of a task with whom they are about, those that hold first, newest first: one index range."""
    return (
        select(ControlDecision, Person)
        .join(Person, Person.id == ControlDecision.person_id)
        .where(ControlDecision.task_id == task_id)
        .order_by(ControlDecision.ended_at.is_not(None), ControlDecision.id.desc())
        .limit(limit)
    )


def item_counts(task_id: str) -> Select[Any]:
    """Select the answers to each item of a task, those that are right, and how often each vote was given.

    Walks the task's answers.
    """
    votes = [_count(Validation.vote == label).label(label) for label in sorted(LABELS)]
    return (
        select(
            ControlAnswer.item_id, func.count().label("answers"), _count(ControlAnswer.is_right).label("right"), *votes
        )
        .join(Validation, Validation.id == ControlAnswer.validation_id)
        .where(ControlAnswer.task_id == task_id, ~ControlAnswer.taken_back, ControlAnswer.item_id.is_not(None))
        .group_by(ControlAnswer.item_id)
    )


def person_counts(task_id: str) -> Select[Any]:
    """Select for each person of a task the answers of each kind and those that are right: walks the task's answers."""
    columns = []
    for kind in ControlKind:
        is_kind = ControlAnswer.kind == kind
        columns += [
            _count(is_kind).label(f"{kind}_answers"),
            _count(is_kind & ControlAnswer.is_right).label(f"{kind}_right"),
        ]
    return (
        select(Person, *columns)
        .join(ControlAnswer, ControlAnswer.person_id == Person.id)
        .where(ControlAnswer.task_id == task_id, ~ControlAnswer.taken_back)
        .group_by(Person.id)
        .order_by(Person.id)
    )


def decided_examples(task_id: str, least_votes: int, limit: int) -> Select[int, str]:
    """Select examples of a task that validators agreed on without exception, at random, with their verdicts.

    Those that are control items already are left out. Walks the standings of the task's rounds and their votes.
    """
    votes = (Validation.example_id == Standing.example_id, ~UNDONE)
    against = exists().where(*votes, Validation.vote != Standing.verdict)
    item = exists().where(ControlItem.task_id == task_id, ControlItem.example_id == Standing.example_id)
    return (
        select(Standing.example_id, Standing.verdict)
        .join(Round, Round.id == Standing.round_id)
        .where(Round.task_id == task_id, Standing.verdict.in_(sorted(LABELS)), Standing.votes >= least_votes)
        .where(*SHOWABLE, ~against, ~item)
        .order_by(func.random())
        .limit(limit)
    )


def shown_as_control(example_id: int, person_id: int) -> Select[int]:
    """Select whether a person saw an example as a control: one range over the person's own places."""
    mine = (ControlPlace.person_id == person_id, ControlPlace.shown_id == example_id)
    return select(ControlPlace.example_id).where(*mine).limit(1)
