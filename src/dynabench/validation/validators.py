"""The validators of a task with the figures of their votes, for owners and moderators.

Figures are over all votes that a validator did not take back; votes that an owner excluded are among them, so that a
decision can be judged afterwards. Reads the votes of the task: a walk over its examples with votes.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, case, func, select
from sqlalchemy.orm import Session, aliased

from dynabench.collection.tables import Standing
from dynabench.kit import errors
from dynabench.kit.language import _
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.roles import Ban, Role, TaskRole
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.rates import UNKNOWN, Rate, wilson
from dynabench.stats.verdict import LABELS, Verdict
from dynabench.validation.queries import TAKEN_BACK
from dynabench.validation.tables import Undo, Validation


@dataclass(frozen=True)
class ValidatorFigures:
    """The votes of one validator.

    `agreement` is the share of votes that equal the verdict, where there is one that is not disputed; the vote itself
    is among those that decided it. `others` is the share of pairs of a vote of theirs and one of another validator on
    the same example that agree. `median_seconds` is over the `timed` votes. `banned` is the reason of a ban. `accuracy`
    is the estimated share of right votes, unknown until it was computed.
    """

    person_id: int
    name: str
    votes: int
    excluded: int
    agreement: Rate
    others: Rate
    median_seconds: float | None
    timed: int
    flags: int
    last_vote: datetime
    role: str | None
    banned: str | None
    accuracy: Rate = UNKNOWN


AccuracyReader = Callable[[Session, str, int | None], Mapping[int, Rate]]
accuracy_readers: list[AccuracyReader] = []
"""Functions of higher packages that estimate the accuracy of validators of a task, or of its round, by person."""

SORTS: dict[str, Callable[[ValidatorFigures], Any]] = {
    "votes": lambda row: -row.votes,
    "name": lambda row: row.name.casefold(),
    "agreement": lambda row: (row.agreement.value is None, row.agreement.value),
    "others": lambda row: (row.others.value is None, row.others.value),
    "accuracy": lambda row: (row.accuracy.value is None, row.accuracy.value),
    "seconds": lambda row: (row.median_seconds is None, row.median_seconds),
    "flags": lambda row: -row.flags,
    "last": lambda row: -row.last_vote.timestamp(),
}
"""Orders of the list: what a row is sorted by, with what deserves a look first on top."""


def list_validators(
    session: Session, actor: Person | None, task_id: str, number: int | None = None, sort: str = "votes"
) -> list[ValidatorFigures]:
    """All validators of a task, or of its round `number` (owners and moderators), in one of the orders `SORTS`."""
    rounds.require(session, actor, Action.LIST_PEOPLE, task_id)
    if sort not in SORTS:
        raise errors.Invalid({"sort": _("Choose one of %(sorts)s.", sorts=", ".join(SORTS))})
    rows = _read_figures(session, task_id, number)
    return sorted(rows, key=lambda row: (SORTS[sort](row), row.person_id))


def validator_figures(session: Session, actor: Person | None, task_id: str, person_id: int) -> ValidatorFigures:
    """The figures of one validator of a task (owners and moderators); `NotFound` for a person without votes."""
    rounds.require(session, actor, Action.LIST_PEOPLE, task_id)
    rows = _read_figures(session, task_id, None, person_id)
    if not rows:
        raise errors.NotFound(_("This person has not voted in this task."))
    return rows[0]


def _read_figures(
    session: Session, task_id: str, number: int | None, person_id: int | None = None
) -> list[ValidatorFigures]:
    round_ = rounds.round_of(session, task_id, number) if number is not None else None
    scope = [Round.task_id == task_id] + ([Round.id == round_.id] if round_ else [])
    if person_id is not None:
        scope.append(Validation.person_id == person_id)
    pairs = {row.person_id: row for row in session.execute(_pairs(scope))}
    times = {row.person_id: row for row in session.execute(_medians(scope))}
    accuracies = {id: rate for read in accuracy_readers for id, rate in read(session, task_id, number).items()}
    counts = _counts(scope).subquery()
    statement = (
        select(Person, Role.role, Ban.reason, *counts.c)
        .join(counts, counts.c.person_id == Person.id)
        .outerjoin(Role, and_(Role.task_id == task_id, Role.person_id == Person.id))
        .outerjoin(Ban, and_(Ban.task_id == task_id, Ban.person_id == Person.id))
    )
    return [_figures(row, pairs, times, accuracies) for row in session.execute(statement)]


def _figures(
    row: Any, pairs: Mapping[int, Any], times: Mapping[int, Any], accuracies: Mapping[int, Rate]
) -> ValidatorFigures:
    person: Person = row[0]
    others, time = pairs.get(person.id), times.get(person.id)
    return ValidatorFigures(
        person_id=person.id,
        name=person.public_name,
        votes=row.votes,
        excluded=row.excluded,
        agreement=wilson(row.agreeing, row.decided),
        others=wilson(others.agreeing, others.pairs) if others else wilson(0, 0),
        median_seconds=float(time.median) if time else None,
        timed=time.timed if time else 0,
        flags=row.flags,
        last_vote=row.last_vote,
        role=TaskRole(row.role) if row.role else None,
        banned=row.reason,
        accuracy=accuracies.get(person.id, UNKNOWN),
    )


def _sum(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.sum(case((condition, 1), else_=0))


def _counts(scope: list[ColumnElement[bool]]) -> Select[*tuple[Any, ...]]:
    decided = Standing.verdict.in_(sorted(LABELS))
    undone = aliased(Undo)
    return (
        select(
            Validation.person_id,
            func.count().label("votes"),
            func.count(undone.validation_id).label("excluded"),
            _sum(decided).label("decided"),
            _sum(Standing.verdict == Validation.vote).label("agreeing"),
            _sum(Validation.vote == Verdict.FLAGGED).label("flags"),
            func.max(Validation.at).label("last_vote"),
        )
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .outerjoin(undone, undone.validation_id == Validation.id)
        .where(*scope, ~TAKEN_BACK)
        .group_by(Validation.person_id)
    )


def _pairs(scope: list[ColumnElement[bool]]) -> Select[*tuple[Any, ...]]:
    """Select how many votes of others stand beside those of each validator, and how many of them agree."""
    other, undo = aliased(Validation), aliased(Undo)
    same_example = and_(other.example_id == Validation.example_id, other.person_id != Validation.person_id)
    return (
        select(
            Validation.person_id,
            func.count().label("pairs"),
            _sum(other.vote == Validation.vote).label("agreeing"),
        )
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .join(other, same_example)
        .outerjoin(undo, undo.validation_id == other.id)
        .where(*scope, ~TAKEN_BACK, undo.validation_id.is_(None) | undo.excluded)
        .group_by(Validation.person_id)
    )


def _medians(scope: list[ColumnElement[bool]]) -> Select[*tuple[Any, ...]]:
    """Select the median time of each validator's votes: time at work where the page measured it."""
    spent = func.coalesce(Validation.active_seconds, Validation.seconds)
    place = func.row_number().over(partition_by=Validation.person_id, order_by=spent)
    ranked = (
        select(
            Validation.person_id,
            spent.label("spent"),
            place.label("place"),
            func.count().over(partition_by=Validation.person_id).label("timed"),
        )
        .join(Standing, Standing.example_id == Validation.example_id)
        .join(Round, Round.id == Standing.round_id)
        .where(*scope, ~TAKEN_BACK, spent.is_not(None))
        .subquery()
    )
    middle = (2 * ranked.c.place).between(ranked.c.timed, ranked.c.timed + 2)
    return (
        select(ranked.c.person_id, func.avg(ranked.c.spent).label("median"), func.max(ranked.c.timed).label("timed"))
        .where(middle)
        .group_by(ranked.c.person_id)
    )
