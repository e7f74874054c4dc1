"""Disputed examples before experts: the queue, both sides with their reasons, and the decision, which overrides votes.

An expert sees no names: neither of the author nor of the validators.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from dynabench.collection import search
from dynabench.collection.search import FoundExample
from dynabench.collection.tables import Example
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.quality import queries
from dynabench.quality.tables import Adjudication
from dynabench.rounds import people
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.validation import queries as vote_queries
from dynabench.validation import service as voting

QUEUES = {"disputed": queries.disputed_examples, "split": queries.split_examples}
"""Disputed examples, whose votes are used up, and open ones whose votes differ so far."""


@dataclass(frozen=True)
class SideVote:
    """One vote on a side: what its validator answered blind, and to the task's questions."""

    blind_answer: Mapping[str, Any] | None
    values: Mapping[str, Any]


@dataclass(frozen=True)
class DisputedCase:
    """An example with its votes by label (`sides`, most votes first)."""

    seen: FoundExample
    sides: Mapping[str, Sequence[SideVote]]


@dataclass(frozen=True)
class DecidedCase:
    """A decision of an expert: on what, by whom, why; `revocable` by the person who reads it."""

    id: int
    example_id: int
    verdict: str
    reason: str
    by: str
    at: datetime
    revoked_at: datetime | None
    revocable: bool


def list_cases(
    session: Session,
    actor: Person,
    task_id: str,
    which: str = "disputed",
    before: int | None = None,
    limit: int = 20,
) -> list[DisputedCase]:
    """Return the newest cases of a queue that the expert may decide, below the example `before`."""
    rounds.require(session, actor, Action.ADJUDICATE, task_id)
    if which not in QUEUES:
        raise errors.Invalid({"which": _("Choose one of %(queues)s.", queues=", ".join(QUEUES))})
    ids = session.scalars(QUEUES[which](task_id, actor.id, before, limit)).all()
    return read_cases(session, ids)


def read_cases(session: Session, ids: Sequence[int]) -> list[DisputedCase]:
    """Return examples with their sides; index probes for each."""
    cases = []
    for seen_example in search.public(session, ids):
        sides: dict[str, list[SideVote]] = defaultdict(list)
        for vote in session.scalars(vote_queries.votes(seen_example.example.id)):
            sides[vote.vote].append(SideVote(vote.blind_answer, vote.values))
        ordered = dict(sorted(sides.items(), key=lambda side: (-len(side[1]), side[0])))
        cases.append(DisputedCase(seen_example, ordered))
    return cases


def list_decisions(
    session: Session, actor: Person, task_id: str, before: int | None = None, limit: int = 20
) -> list[DecidedCase]:
    """Return the newest decisions of experts in a task (experts, moderators and owners)."""
    rounds.require(session, actor, Action.ADJUDICATE, task_id)
    alone = bool(may.may_in(session, actor, Action.DECIDE_ALONE, task_id))
    return [
        DecidedCase(
            id=row.id,
            example_id=row.example_id,
            verdict=row.verdict,
            reason=row.reason,
            by=person.public_name if person else "",
            at=row.at,
            revoked_at=row.revoked_at,
            revocable=row.revoked_at is None and (alone or row.by == actor.id),
        )
        for row, person in session.execute(queries.adjudications(task_id, before, limit))
    ]


def decide_case(session: Session, actor: Person, example_id: int, verdict: str, reason: str) -> Adjudication:
    """Decide about an example (experts, moderators, owners), with a reason that others can read."""
    text = " ".join(reason.split())
    if not text or len(text) > people.REASON:
        raise errors.Invalid({"reason": _("Give a reason of at most %(most)s characters.", most=people.REASON)})
    latest = session.scalar(queries.latest_decision(example_id))
    if latest and (latest.by, latest.verdict, latest.reason) == (actor.id, verdict, text):
        rounds.require(session, actor, Action.ADJUDICATE, latest.task_id)
        return latest  # sent twice
    outcome = voting.decide(session, actor, example_id, verdict)
    round_ = session.get_one(Round, session.get_one(Example, outcome.example_id).round_id)
    decision = Adjudication(
        task_id=round_.task_id,
        example_id=example_id,
        validation_id=outcome.id,
        verdict=verdict,
        reason=text,
        by=actor.id,
    )
    session.add(decision)
    subject = {"task": round_.task_id, "example": example_id, "verdict": verdict, "reason": text}
    rounds.record_act(session, actor, "example.adjudicate", **subject)
    session.flush()
    return decision


def revoke_decision(session: Session, actor: Person, task_id: str, decision_id: int) -> Adjudication:
    """Take a decision back (its expert, or an owner): the votes decide again."""
    rounds.require(session, actor, Action.ADJUDICATE, task_id)
    decision = session.get(Adjudication, decision_id, with_for_update=True)
    if decision is None or decision.task_id != task_id:
        raise errors.NotFound(_("There is no such decision."))
    voting.revoke(session, actor, decision.validation_id)
    decision.revoked_at = now()
    rounds.record_act(session, actor, "example.adjudicate.undo", task=task_id, example=decision.example_id)
    session.flush()
    return decision
