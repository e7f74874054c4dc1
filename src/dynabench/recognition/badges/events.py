"""Badges that one event earns: an example becomes verified, a week is decided, a model leads a board."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from sqlalchemy import ColumnElement, Select, func, select
from sqlalchemy.orm import Session

from dynabench.benchmark.leaderboards.best_models import summarize_boards
from dynabench.benchmark.registry.tables import Submission
from dynabench.collection.tables import Example, ExampleSource, Prediction, Standing, Tally
from dynabench.people import disclosure
from dynabench.people.accounts.tables import Person
from dynabench.recognition.badges.definitions import (
    ALL_TARGETS,
    ALONE,
    FIRST_TO_FOOL,
    LEAST_OF_WEEK,
    LEAST_TRIED,
    TOP_MODEL,
    WEEKLY_WINNER,
)
from dynabench.recognition.badges.tables import BadgeAward
from dynabench.rounds.tables import Round, RoundState, Task
from dynabench.stats.verdict import Verdict

DECIDED_AFTER = timedelta(days=1)
"""The time after a week's end at which its winner is decided, so that votes can come in."""
MAX_TASKS = 1000


@dataclass(frozen=True)
class EarnedBadge:
    """A badge that a person earned, for one subject."""

    person_id: int
    badge: str
    subject: str = ""
    example_id: int | None = None


@dataclass(frozen=True)
class _VerifiedExample:
    id: int
    author_id: int
    context_id: int
    all_targets: bool
    models: Sequence[str]


def example_badges(session: Session, example_ids: Iterable[int]) -> list[EarnedBadge]:
    """Return what examples earn now that they are verified, in the order of their ids."""
    earned = []
    fooled_models: set[str] = set()
    for example in _verified(session, example_ids):
        for model in example.models:
            if model not in fooled_models and not _is_fooled_before(session, model):
                earned.append(EarnedBadge(example.author_id, FIRST_TO_FOOL, model, example.id))
            fooled_models.add(model)
        if example.all_targets:
            earned.append(EarnedBadge(example.author_id, ALL_TARGETS, example_id=example.id))
        if _is_found_alone(session, example):
            earned.append(EarnedBadge(example.author_id, ALONE, example_id=example.id))
    return earned


def _verified(session: Session, example_ids: Iterable[int]) -> list[_VerifiedExample]:
    rows = session.execute(
        select(Example.id, Example.author_id, Example.context_id, Standing.targets, Standing.targets_right)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.id.in_(set(example_ids)), *_verified_clause())
        .order_by(Example.id)
    ).all()
    answers = session.scalars(
        select(Prediction).where(Prediction.example_id.in_([row.id for row in rows])).order_by(Prediction.position)
    )
    models: dict[int, list[str]] = {row.id: [] for row in rows}
    for prediction in answers:
        if prediction.errs:
            models[prediction.example_id].append(prediction.model)
    return [
        _VerifiedExample(
            row.id, row.author_id, row.context_id, row.targets > 1 and not row.targets_right, models[row.id]
        )
        for row in rows
    ]


def _verified_clause() -> tuple[ColumnElement[bool], ...]:
    return (
        Standing.fooled.is_(True),
        Standing.verdict == str(Verdict.CORRECT),
        ~Standing.retracted,
        ~Standing.hidden,
        Example.source != ExampleSource.PROGRAM,
    )


def _is_fooled_before(session: Session, model: str) -> bool:
    earlier = select(BadgeAward.id).where(BadgeAward.badge == FIRST_TO_FOOL, BadgeAward.subject == model)
    return session.scalar(earlier.limit(1)) is not None


def _is_found_alone(session: Session, example: _VerifiedExample) -> bool:
    """Tell whether others tried the example's context in vain; two index ranges that end early."""
    others = (
        select(Example.author_id)
        .join(Standing, Standing.example_id == Example.id)
        .where(Example.context_id == example.context_id, Example.author_id != example.author_id)
        .where(Example.source != ExampleSource.PROGRAM, ~Standing.retracted, ~Standing.hidden)
    )
    refuted = Standing.verdict.in_((Verdict.INCORRECT, Verdict.FLAGGED))
    if session.scalar(others.where(Standing.fooled.is_(True), ~refuted).limit(1)) is not None:
        return False
    in_vain = others.where(Standing.fooled.is_not(None)).distinct().limit(LEAST_TRIED).subquery()
    return session.scalar(select(func.count()).select_from(in_vain)) == LEAST_TRIED


def last_decided_week(today: date) -> date:
    """Return the Monday of the newest week whose winner is decided: it ended a day ago or earlier."""
    monday = (today - DECIDED_AFTER) - timedelta(days=(today - DECIDED_AFTER).weekday())
    return monday - timedelta(days=7)


def week_sums(first: date, last: date, task_id: str = "") -> Select[int, int]:
    """Select people with their verified fooling examples of the days from `first` to `last`, the most first.

    Cost: the tallies of the rounds that took examples in these days.
    """
    rounds_open = select(Round.id).where(Round.state != RoundState.DRAFT)
    if task_id:
        rounds_open = rounds_open.where(Round.task_id == task_id)
    verified = func.sum(Tally.validated)
    return (
        select(Tally.person_id, verified)
        .where(Tally.round_id.in_(rounds_open), Tally.day.between(first.isoformat(), last.isoformat()))
        .where(Tally.source != ExampleSource.PROGRAM)
        .group_by(Tally.person_id)
        .having(verified > 0)
        .order_by(verified.desc(), Tally.person_id)
    )


def week_badges(session: Session, monday: date) -> list[EarnedBadge]:
    """Return the winners of the week that begins on a Monday: all who have the most, if that is enough.

    None where the week is decided already: votes that come later change nothing.
    """
    decided = select(BadgeAward.id).where(BadgeAward.badge == WEEKLY_WINNER, BadgeAward.subject == monday.isoformat())
    if session.scalar(decided.limit(1)) is not None:
        return []
    rows = session.execute(
        week_sums(monday, monday + timedelta(days=6))
        .join(Person, Person.id == Tally.person_id)
        .where(Person.deleted_at.is_(None), Person.imported_as.is_(None))
    ).all()
    if not rows or rows[0][1] < LEAST_OF_WEEK:
        return []
    return [EarnedBadge(id, WEEKLY_WINNER, monday.isoformat()) for id, count in rows if count == rows[0][1]]


def board_badges(session: Session) -> list[EarnedBadge]:
    """Return those whose public submission is the best of several on a task's board. Three statements while boards are
    as they were."""
    tasks = session.execute(select(Task.id, Task.version_id).where(Task.version_id.is_not(None)).limit(MAX_TASKS))
    versions: Mapping[str, int] = {task_id: version for task_id, version in tasks if version is not None}
    leading = {
        summary.best.entrant.id: task_id
        for task_id, summary in summarize_boards(session, versions).items()
        if summary.best is not None and summary.models > 1
    }
    submitters = select(Submission.id, Submission.person_id).where(
        Submission.id.in_(leading),
        Submission.person_id.is_not(None),
        Submission.kind != "installed",
        disclosure.named_submissions(Submission),
    )
    return [
        EarnedBadge(person_id, TOP_MODEL, leading[id])
        for id, person_id in session.execute(submitters)
        if person_id is not None
    ]
