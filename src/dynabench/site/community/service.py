"""A person's own work: examples with their outcomes, withdrawal, and deletion of the account."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Select, case, func, select, update
from sqlalchemy.orm import Session

from dynabench.announcements import service as announcements
from dynabench.benchmark.leaderboards import snapshots
from dynabench.benchmark.registry import service as registry
from dynabench.benchmark.registry import submissions
from dynabench.benchmark.releases import tables as release_tables
from dynabench.collection import notes, search
from dynabench.collection.assisting import service as assisting
from dynabench.collection.chat import service as conversations
from dynabench.collection.drawing import service as drawings
from dynabench.collection.search import FoundExample
from dynabench.collection.tables import Example, Standing
from dynabench.collection.withdrawal import withdraw
from dynabench.communities.classes import service as classes
from dynabench.communities.competitions import service as competitions
from dynabench.communities.credits import service as credits
from dynabench.communities.teams import service as teams
from dynabench.crowd import tables as crowd_tables
from dynabench.cycle import tables as cycle_tables
from dynabench.datasets import library
from dynabench.hubs import service as hubs
from dynabench.kit.db import Base
from dynabench.kit.settings import Settings
from dynabench.onboarding import service as onboarding
from dynabench.open_evaluations import service as open_evaluations
from dynabench.pay import tables as pay_tables
from dynabench.people.accounts import service as accounts
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import service as notices
from dynabench.quality import appeals
from dynabench.quality.signals import service as signals
from dynabench.recognition.badges import service as badges
from dynabench.rounds import people
from dynabench.rounds.service import record_act
from dynabench.rounds.tables import Round
from dynabench.stats.rates import Rate, wilson
from dynabench.stats.verdict import Verdict
from dynabench.validation import queries
from dynabench.validation.controls import consequences as controls


def withdraw_own_examples(
    session: Session, person: Person, task_id: str | None = None, number: int | None = None
) -> int:
    """Withdraw examples by `collection.withdrawal.withdraw`, recorded in the audit log; return their number."""
    count = withdraw(session, person, task_id, number)
    if count:
        record_act(session, person, "examples.withdraw", task=task_id, round=number, examples=count)
    return count


def delete_own_account(session: Session, settings: Settings, person_id: int, *, withdraw_examples: bool) -> int:
    """Delete an account: identifying data is deleted, examples stay without a name or are withdrawn.

    Roles, bans, notices, tokens, sessions, signals, digests of devices, onboardings with their answers, places in
    classes and teams, and the links that the person made for others are deleted too. Models that the person kept or
    submitted, datasets and boards stay without an owner, and what the person decided as an owner stays without a name;
    files and tokens of submissions, repositories on the hub, and conversations and drawn pictures that were not sent,
    are deleted. Returns the number of withdrawn examples; those of released rounds are public and stay.
    """
    person = session.get_one(Person, person_id, with_for_update=True)
    count = withdraw_own_examples(session, person) if withdraw_examples else 0
    people.forget_person(session, person_id)
    announcements.forget(session, person_id)
    conversations.forget(session, person_id)
    drawings.forget(session, person_id)
    assisting.forget(session, person_id)
    for statement in notes.forget(person_id):
        session.execute(statement)
    appeals.forget_person(session, person_id)
    onboarding.forget_person(session, person_id)
    controls.forget_person(session, person_id)
    signals.forget_person(session, person_id)
    notices.forget_person(session, person_id)
    badges.forget_person(session, person_id)
    classes.forget_person(session, person_id)
    teams.forget_person(session, person_id)
    competitions.forget_person(session, person_id)
    credits.forget_person(session, person_id)
    registry.remove_keeper(session, person_id)
    submissions.detach_person(session, settings, person_id)
    library.forget_person(session, person_id)
    snapshots.detach_person(session, person_id)
    open_evaluations.forget_person(session, settings, person_id)
    hubs.forget_person(session, person_id)
    detach_acts(session, person_id)
    accounts.delete_account(session, person_id)
    return count


TABLE_MODULES = (crowd_tables, cycle_tables, pay_tables, release_tables)
"""Modules of tables that nothing above needs: `detach_acts` goes through the tables of all modules."""


def detach_acts(session: Session, person_id: int) -> None:
    """Remove the number of a person from all that they made or decided for others, in every table that allows it."""
    for table in Base.metadata.tables.values():
        for key in table.foreign_keys:
            if key.column.table.name == Person.__tablename__ and key.ondelete == "SET NULL":
                column = key.parent
                session.execute(update(table).where(column == person_id).values({column.name: None}))


@dataclass(frozen=True)
class VoteOpinion:
    """A vote as the author may see it, without a name; `values` are the validator's answers beside the vote."""

    vote: str
    values: dict[str, Any]


@dataclass(frozen=True)
class OwnExample:
    """A person's own example; `opinions` are empty until its verdict is final, so that no vote is influenced."""

    seen: FoundExample
    opinions: Sequence[VoteOpinion]


@dataclass(frozen=True)
class OwnTotals:
    """Sums over a task's examples that were not withdrawn; `rate` is of those with a known outcome (fooled or not)."""

    examples: int
    fooled: int
    verified: int
    waiting: int
    rate: Rate


def _select_own(person_id: int, task_id: str, *columns: Any) -> Select[Any]:
    """A select of columns of the person's examples for a task: index entries of the author, a standing for each."""
    return (
        select(*columns)
        .select_from(Example)
        .join(Standing, Standing.example_id == Example.id)
        .join(Round, Round.id == Example.round_id)
        .where(Example.author_id == person_id, Round.task_id == task_id)
    )


def latest_task(session: Session, person: Person) -> str:
    """Return the task of the person's latest example; "" where there is none."""
    last = select(func.max(Example.id)).where(Example.author_id == person.id)
    return task_of(session, session.scalar(last) or 0)


def task_of(session: Session, example_id: int) -> str:
    """Return the task of an example; "" where there is none."""
    statement = select(Round.task_id).join(Example, Example.round_id == Round.id).where(Example.id == example_id)
    return session.scalar(statement) or ""


def own_totals(session: Session, person: Person, task_id: str) -> OwnTotals:
    """Return counts of the person's examples by outcome and verdict; retracted and hidden ones count nowhere."""

    def count(condition: Any) -> Any:
        return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)

    columns = (
        func.count(),
        count(Standing.fooled),
        count(Standing.fooled & (Standing.verdict == Verdict.CORRECT)),
        count(Standing.open & (Standing.verdict == Verdict.PENDING)),
        count(Standing.fooled.is_not(None)),
    )
    statement = _select_own(person.id, task_id, *columns).where(~Standing.retracted, ~Standing.hidden)
    examples, fooled, verified, waiting, with_outcome = map(int, session.execute(statement).one())
    return OwnTotals(examples, fooled, verified, waiting, wilson(fooled, with_outcome))


def own_examples_page(
    session: Session, person: Person, task_id: str, before: int, limit: int
) -> tuple[list[OwnExample], int | None]:
    """Return a page of the person's examples below the id `before`, and the id before which the next page begins.

    With `before` 0 the page begins with the newest.
    """
    statement = _select_own(person.id, task_id, Example.id).order_by(Example.id.desc()).limit(limit + 1)
    ids = session.scalars(statement.where(Example.id < before) if before else statement).all()
    examples = [OwnExample(summary, _opinions(session, summary)) for summary in search.seen(session, ids[:limit])]
    return examples, (ids[limit - 1] if len(ids) > limit else None)


def _opinions(session: Session, seen: FoundExample) -> list[VoteOpinion]:
    if seen.standing.verdict == Verdict.PENDING:
        return []
    return [VoteOpinion(vote.vote, vote.values) for vote in session.scalars(queries.votes(seen.example.id))]
