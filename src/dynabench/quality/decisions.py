"""Decisions about a person that the person can see and appeal: bans, excluded votes, hidden examples, and more.

Higher packages add theirs: a reader to `decision_readers`, what granting an appeal does to `grants`, and facts for the
people who answer to `case_facts`.
"""

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection import withdrawal
from dynabench.collection.tables import Example, Hiding
from dynabench.people.roles import Ban
from dynabench.quality.tables import Appeal
from dynabench.rounds import people
from dynabench.rounds.tables import Round
from dynabench.validation import exclusion
from dynabench.validation.controls import consequences
from dynabench.validation.tables import VoteExclusion

MOST_HIDDEN = 100
"""Hidden examples of a person that are listed, the newest first."""


class DecisionKind(StrEnum):
    """Kinds of decisions about a person; rejected submissions and pauses of people are decided by higher packages."""

    BAN = "ban"
    EXCLUDED_VOTES = "excluded_votes"
    HIDDEN_EXAMPLE = "hidden_example"
    REJECTED_SUBMISSION = "rejected_submission"
    PAUSE = "pause"
    PAUSED_CHECKING = "paused_checking"


@dataclass(frozen=True)
class PersonDecision:
    """One decision about a person that holds now; `decider_id` is never shown to the person."""

    kind: DecisionKind
    task_id: str
    subject_id: int
    reason: str
    at: datetime
    decider_id: int | None


HIGHER = ("dynabench.crowd.rejections",)
"""Modules of higher packages that add theirs, imported when decisions are read first."""

DecisionReader = Callable[[Session, int], Iterable[PersonDecision]]


def read_bans(session: Session, person_id: int) -> list[PersonDecision]:
    """Return the bans of a person."""
    bans = session.scalars(select(Ban).where(Ban.person_id == person_id))
    return [PersonDecision(DecisionKind.BAN, ban.task_id, 0, ban.reason, ban.at, ban.by) for ban in bans]


def read_exclusions(session: Session, person_id: int) -> list[PersonDecision]:
    """Return the tasks in which the votes of a person do not count."""
    rows = session.scalars(select(VoteExclusion).where(VoteExclusion.person_id == person_id, VoteExclusion.excluded))
    return [PersonDecision(DecisionKind.EXCLUDED_VOTES, row.task_id, 0, "", row.at, row.by) for row in rows]


def read_hidings(session: Session, person_id: int) -> list[PersonDecision]:
    """Return the newest examples of a person that moderators hid: a range over the person's own examples."""
    latest = (
        select(func.max(Hiding.id))
        .join(Example, Example.id == Hiding.example_id)
        .where(Example.author_id == person_id)
        .group_by(Hiding.example_id)
    )
    rows = session.execute(
        select(Hiding, Round.task_id)
        .join(Example, Example.id == Hiding.example_id)
        .join(Round, Round.id == Example.round_id)
        .where(Hiding.id.in_(latest), Hiding.hidden)
        .order_by(Hiding.id.desc())
        .limit(MOST_HIDDEN)
    )
    return [
        PersonDecision(DecisionKind.HIDDEN_EXAMPLE, task_id, row.example_id, row.reason, row.at, row.by)
        for row, task_id in rows
    ]


def read_pauses(session: Session, person_id: int) -> list[PersonDecision]:
    """Return the tasks in which a person's checking is paused, because of answers to control items."""
    return [
        PersonDecision(
            DecisionKind.PAUSED_CHECKING,
            row.task_id,
            row.id,
            consequences.explain_decision(row),
            row.at,
            row.decided_by,
        )
        for row in consequences.read_pauses(session, person_id)
    ]


decision_readers: list[DecisionReader] = [read_bans, read_exclusions, read_hidings, read_pauses]


def _lift_ban(session: Session, appeal: Appeal) -> None:
    people.lift_ban(session, None, appeal.task_id, appeal.person_id)


def _restore_votes(session: Session, appeal: Appeal) -> None:
    exclusion.restore_votes(session, None, appeal.task_id, appeal.person_id)


def _show_example(session: Session, appeal: Appeal) -> None:
    withdrawal.restore(session, None, appeal.subject_id, f"appeal {appeal.id}")


def _lift_pause(session: Session, appeal: Appeal) -> None:
    consequences.end_decision(session, None, appeal.task_id, appeal.subject_id)


grants: dict[DecisionKind, Callable[[Session, Appeal], None]] = {
    DecisionKind.BAN: _lift_ban,
    DecisionKind.EXCLUDED_VOTES: _restore_votes,
    DecisionKind.HIDDEN_EXAMPLE: _show_example,
    DecisionKind.PAUSED_CHECKING: _lift_pause,
}
"""What granting an appeal does to the decision, by kind; in the same transaction."""

case_facts: dict[DecisionKind, Callable[[Session, Appeal], str]] = {}
"""A sentence about what was decided on, by kind, for the people who answer an appeal; without any crowd worker's id."""


@cache
def _load_higher() -> None:
    for module in HIGHER:
        importlib.import_module(module)


def describe_case(session: Session, appeal: Appeal) -> str:
    """Return a sentence about what an appeal is about, "" for kinds without one."""
    _load_higher()
    describe = case_facts.get(DecisionKind(appeal.kind))
    return describe(session, appeal) if describe else ""


def read_decisions(session: Session, person_id: int) -> list[PersonDecision]:
    """Return all decisions about a person that hold now, newest first."""
    _load_higher()
    rows = [row for read in decision_readers for row in read(session, person_id)]
    return sorted(rows, key=lambda row: row.at, reverse=True)
