"""The right to write in a round and to see an example, and the number of examples left by a plan's limits."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cache
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.collection import boards, queries
from dynabench.collection.schemas import ExampleIn
from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.onboarding import admission
from dynabench.onboarding.tables import OnboardingActivity
from dynabench.people import disclosure, may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.plan import AuthorLimits, PlannedRound, parse_plan
from dynabench.rounds.tables import Round, RoundPerson

COMPETITIONS = "dynabench.communities.competitions.taking_part"
"""The rules of rounds in which teams compete: of a higher level, imported for such rounds alone."""


def admit(session: Session, person: Person | None, round_: Round, *, sandbox: bool = False) -> None:
    """Refuse a person who may not write in a round, or, outside the sandbox, wrote as much as they may or is paid."""
    if round_.competition:
        importlib.import_module(COMPETITIONS).admit(session, person, round_.id, sandbox)
    if person is not None and not sandbox:
        config = rounds.config_of(session, round_.version_id)
        admission.require_qualified(session, person, config, OnboardingActivity.WRITE)
        refuse_unpaid(session, person, round_.id)
    if not round_.plan:
        return
    role = may.role_of(session, person, round_.task_id)
    admit_to(session, person, round_.task_id, round_.id, round_.plan, role)
    if person is not None and not sandbox:
        refuse_spent(session, person.id, round_.id, round_.plan)


@cache
def _paid_work() -> Any:
    return importlib.import_module("dynabench.pay.limits")  # stands above this package


def refuse_unpaid(session: Session, person: Person, round_id: int, *, begun: bool = False) -> None:
    """Raise `Conflict` where a person would write without pay in a round that pays: its budget or a cap is reached.

    With `begun` the person sends what they were handed out.
    """
    _paid_work().refuse_unpaid_example(session, person, round_id, begun=begun)


def admit_to(
    session: Session, person: Person | None, task_id: str, round_id: int, plan: Mapping[str, Any], role: str | None
) -> None:
    """Refuse a person who is not of the audience of a round; `role` is theirs in the task. At most two index probes."""
    if "audience" not in plan:
        return
    audience = parse_plan(plan).audience
    if person is None:
        raise errors.Unauthenticated(_("This round is not open to everyone. Log in if you may take part."))
    if may.may(person, Action.JOIN_ANY_ROUND, role=role):
        return
    if audience.kind == "experts":
        may.refuse_unless(may.may(person, Action.JOIN_EXPERT_ROUND, role=role))
    if audience.kind == "invited" and session.get(RoundPerson, (round_id, person.id)) is None:
        raise errors.Forbidden(_("This round is by invitation. Ask one of the task's owners for a link."))
    if audience.kind == "qualified":
        has, required = verified(session, person.id, task_id), audience.verified or 0
        if has < required:
            raise errors.Forbidden(
                _(
                    "This round is for people with at least %(wanted)s verified examples in this "
                    "task. You have %(has)s.",
                    wanted=required,
                    has=has,
                )
            )


def admit_program(plan: Mapping[str, Any], program: object | None) -> None:
    """Refuse what a program wrote where the round is for people alone."""
    if program is not None and not parse_plan(plan).programs:
        raise errors.Forbidden(_("This round is for people only: programs may not propose examples."))


def admit_writing(plan: Mapping[str, Any], body: ExampleIn) -> None:
    """Refuse text that its author declares to be a language model's where the round does not accept such text."""
    is_declared = body.writing is not None and body.writing.model_written is True
    if is_declared and parse_plan(plan).model_text == "forbidden":
        raise errors.Forbidden(_("This round does not accept text that a language model wrote or rewrote."))


def verified(session: Session, person_id: int, task_id: str) -> int:
    """Return the number of examples for a task that a person wrote and that fooled and were found correct.

    Only examples that the person wrote without a program count.
    """
    return int(session.scalar(queries.verified(person_id, task_id)) or 0)


@dataclass(frozen=True)
class Quota:
    """The examples that a person has written in a round, and the limits.

    `today` counts the examples of the UTC day, which ends at `resets`.
    """

    limits: AuthorLimits
    written: int
    today: int
    resets: datetime

    @property
    def remaining(self) -> int:
        """The number of examples that the person may still write now."""
        limits = ((self.limits.per_person, self.written), (self.limits.per_day, self.today))
        return min(max(limit - done, 0) for limit, done in limits if limit is not None)

    @property
    def for_good(self) -> bool:
        """True if the limit that binds is the round's, which another day does not lift."""
        whole = self.limits.per_person
        return whole is not None and max(whole - self.written, 0) <= self.remaining

    @property
    def explanation(self) -> str:
        """Say why nothing more can be written, and when it can again."""
        if self.for_good:
            return _(
                "You have reached this round's limit of %(per_person)s examples per person.",
                per_person=f"{self.limits.per_person:,}",
            )
        return _(
            "You have reached the daily limit of %(per_day)s examples. It resets at %(resets)s UTC.",
            per_day=f"{self.limits.per_day:,}",
            resets=f"{self.resets:%H:%M}",
        )


def quota(session: Session, person_id: int, round_id: int, plan: PlannedRound) -> Quota | None:
    """Return the quota of a person in a round; None where the plan sets no limit.

    Reads two ranges of a few rows of the tallies.
    """
    if plan.limits == AuthorLimits():
        return None
    day = now().astimezone(UTC).date()

    def written(on: str | None) -> int:
        row = session.execute(boards.own_tally(person_id, round_id, on)).one()
        return int(row.examples + row.retracted + row.hidden)

    resets = datetime.combine(day + timedelta(days=1), time(), UTC)
    return Quota(plan.limits, written(None), written(day.isoformat()), resets)


def refuse_spent(session: Session, person_id: int, round_id: int, plan: Mapping[str, Any]) -> None:
    """Raise where a person has written as much as they may: `TooMany` until tomorrow, `Conflict` for good."""
    person_quota = quota(session, person_id, round_id, parse_plan(plan)) if "limits" in plan else None
    if person_quota is None or person_quota.remaining:
        return
    if person_quota.for_good:
        raise errors.Conflict(person_quota.explanation)
    raise errors.TooMany(
        person_quota.explanation, retry_after=max(int((person_quota.resets - now()).total_seconds()), 1)
    )


def take(session: Session, person_id: int, round_id: int, plan: Mapping[str, Any]) -> None:
    """As `refuse_spent`, for an example that this transaction writes: others by the same person wait for its end."""
    if "limits" in plan:
        # SQLite has no row locks and leaves FOR UPDATE out: there the whole writing transaction is alone.
        session.execute(select(Person.id).where(Person.id == person_id).with_for_update(key_share=True))
        refuse_spent(session, person_id, round_id, plan)


def over(plan: Mapping[str, Any]) -> bool:
    """Return whether the moment has passed at which a round is to close.

    The job that closes it may not have come to it yet.
    """
    closes = parse_plan(plan).closes_at if "closes_at" in plan else None
    return closes is not None and closes <= now()


@dataclass(frozen=True)
class Goal:
    """A goal of a round, `examples`, `fooled` or `verified`: how many are wanted, and how many there are."""

    name: str
    required: int
    reached: int


def goals(session: Session, round_: Round) -> list[Goal]:
    """The goals of a round with what was reached; examples of programs are left out. Walks the round's tallies, a row
    per person and day, and only where there are goals."""
    goal_counts = parse_plan(round_.plan).goals.model_dump(exclude_none=True)
    if not goal_counts:
        return []
    sums = session.execute(boards.sums([round_.id])).first()
    reached = {"examples": "examples", "fooled": "fooled", "verified": "validated"}
    return [
        Goal(name, number, int(getattr(sums, reached[name])) if sums else 0) for name, number in goal_counts.items()
    ]


def quota_of(session: Session, person: Person | None, task_id: str) -> Quota | None:
    """Return the quota of a person in the open round, if it sets limits.

    None for a visitor, and where no round is open.
    """
    round_ = session.scalar(round_queries.open_round(task_id))
    return quota(session, person.id, round_.id, parse_plan(round_.plan)) if round_ and person and round_.plan else None


def visible_example(session: Session, person: Person, example_id: int) -> Example:
    """The example, for its author and the task's owners; for everybody else there is none."""
    example = session.scalar(queries.example(example_id))
    if example is not None:
        if example.author_id == person.id:
            return example
        task_id = session.get_one(Round, example.round_id).task_id
        if may.may_in(session, person, Action.READ_EXAMPLE, task_id) and not disclosure.is_withheld(
            session.get_one(Standing, example.id)
        ):
            return example
    raise errors.NotFound(_("There is no example %(example_id)s that you can see.", example_id=example_id))


def known_round(session: Session, actor: Person | None, example_id: int) -> Round:
    """Return an example's round.

    A person who has nothing to do with its task gets `NotFound`, and does not learn whether there is such an example.
    """
    statement = select(Round).join(Example, Example.round_id == Round.id).where(Example.id == example_id)
    round_ = session.scalar(statement)
    if round_ is None or not may.actor_may(session, actor, Action.LEARN_OF_EXAMPLE, round_.task_id):
        raise errors.NotFound(_("There is no example %(example_id)s that you can see.", example_id=example_id))
    return round_


def own_example(session: Session, person: Person, example_id: int) -> Example:
    """The example, for its author alone."""
    example = visible_example(session, person, example_id)
    if example.author_id != person.id:
        raise errors.Forbidden(_("Only the author can do this."))
    return example
