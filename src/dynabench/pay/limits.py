"""Limits of paid work: the budget of a round and the caps of a person, checked before the person works.

A budget counts all that may still fall due for what was accepted: an example that waits for its verdict counts with its
highest pay and with the votes that it may take. Nobody is handed out work whose pay the budget no longer covers. A
person who was handed something in the last `BEGUN` may still send it, since it counts as spent from then on: what is
accepted is paid, also where that exceeds the budget by what people had begun.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Select, case, func, select
from sqlalchemy.orm import Session

from dynabench.collection.handout_tables import Handout
from dynabench.collection.tables import Example, Standing
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.pay import booking, queries
from dynabench.pay.money import Money
from dynabench.pay.scheme import Scheme, parse_scheme
from dynabench.pay.tables import Payment, PaymentKind, PaymentState
from dynabench.pay.work import PAID_SOURCES
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.stats.verdict import Verdict
from dynabench.validation.queries import CONTROL_STANDS, UNDONE
from dynabench.validation.tables import Validation

BEGUN = timedelta(minutes=30)
"""Time for which something that was handed out counts as work that was begun."""
KEEP_TIMES = 20
"""A round's commitments are kept for this many times as long as reading them took."""


@dataclass(frozen=True)
class Commitments:
    """The budget of a round and all that may fall due in it, in minor units.

    `booked` is in the ledger, `accepted` the most that accepted work may come to, `begun` what people are working on
    now. `next_example` is the most that one more example costs with its votes.
    """

    currency: str
    budget: int | None
    booked: int
    accepted: int
    begun: int
    next_example: int

    @property
    def rest(self) -> int | None:
        """The part of the budget that is free; None without a budget."""
        return None if self.budget is None else self.budget - max(self.accepted, self.booked) - self.begun

    @property
    def is_spent(self) -> bool:
        """True where the budget covers no further example."""
        return self.rest is not None and self.rest < self.next_example


_recent_commitments: dict[tuple[str, int], tuple[float, Commitments]] = {}


def commitments(session: Session, round_: Round, schemes: Sequence[Scheme]) -> Commitments:
    """Return what may fall due in a round; at most `KEEP_TIMES` as old as the reading took."""
    key = (str(session.get_bind().url), round_.id)  # type: ignore[union-attr]
    begun, entry = time.monotonic(), _recent_commitments.get(key)
    if entry and entry[0] > begun and entry[1].budget == _budget(schemes[-1]):
        return entry[1]
    result = _read_commitments(session, round_, schemes)
    _recent_commitments[key] = (begun + KEEP_TIMES * (time.monotonic() - begun), result)
    return result


def _budget(scheme: Scheme) -> int | None:
    return None if scheme.budget is None else scheme.minor(scheme.budget)


def _read_commitments(session: Session, round_: Round, schemes: Sequence[Scheme]) -> Commitments:
    newest = schemes[-1]
    rule = rounds.config_of(session, round_.version_id).validation
    example, fooling, vote = _highest(schemes)
    counts = session.execute(_counts(round_.id, rule.adjudicate_up_to)).one()
    votes = session.scalar(_vote_count(round_.id)) or 0
    accepted = int(counts.examples or 0) * example + int(counts.fooling or 0) * fooling
    controls = rounds.newest_config(session, round_.task_id).validation.controls
    # The number of paid answers that come with one vote: controls are paid as votes are.
    more = 1 / (1 - controls.share) if controls else 1.0
    accepted += (votes + math.ceil(int(counts.missing or 0) * more)) * vote
    base = newest.minor(newest.base.amount) if newest.base else 0
    if base:
        accepted += base * len(booking.people_to_book(session, round_.id, 0, 1_000_000))
    unlinked = session.scalar(_booked(round_.id).where((Payment.item == "") | (Payment.kind == PaymentKind.TOP_UP)))
    next_example = example + fooling + vote * math.ceil(rule.adjudicate_up_to * more)
    return Commitments(
        newest.currency,
        _budget(newest),
        int(session.scalar(_booked(round_.id)) or 0),
        accepted + int(unlinked or 0),
        next_example * int(session.scalar(_at_work(round_.id)) or 0),
        next_example,
    )


def _highest(schemes: Sequence[Scheme]) -> tuple[int, int, int]:
    """The most that an example, a verified fooling example on top, and a vote earn by any version."""

    def bonuses(scheme: Scheme) -> int:
        bonus = scheme.bonus
        total = scheme.minor(bonus.confidence.amount) if bonus.confidence else 0
        return total + (scheme.minor(bonus.targets.amount) * 2 if bonus.targets else 0)

    return (
        max(scheme.minor(scheme.per_example) for scheme in schemes),
        max(scheme.minor(scheme.per_fooling) + bonuses(scheme) for scheme in schemes),
        max(max(scheme.minor(scheme.per_vote), scheme.minor(scheme.per_blind_answer)) for scheme in schemes),
    )


def _counts(round_id: int, most_votes: int) -> Select[*tuple[Any, ...]]:
    """Select the paid examples of a round, those that earn fooling pay or may, and the votes that may still come."""

    def count(condition: Any, value: Any = 1) -> Any:
        return func.sum(case((condition, value), else_=0))

    stands = ~Standing.retracted & ~Standing.hidden & (Standing.verdict != Verdict.FLAGGED)
    may_fool = Standing.fooled.is_not(False) & Standing.verdict.in_([Verdict.CORRECT, Verdict.PENDING])
    waits = Standing.open & (Standing.votes < most_votes)
    return (
        select(
            count(stands).label("examples"),
            count(stands & may_fool).label("fooling"),
            count(waits, most_votes - Standing.votes).label("missing"),
        )
        .join(Example, Example.id == Standing.example_id)
        .where(Standing.round_id == round_id, Example.source.in_(PAID_SOURCES))
    )


def _vote_count(round_id: int) -> Select[*tuple[Any, ...]]:
    return (
        select(func.count())
        .select_from(Validation)
        .join(Standing, Standing.example_id == Validation.example_id)
        .where(Standing.round_id == round_id, ~Validation.by_owner, ~UNDONE | CONTROL_STANDS)
    )


def _booked(round_id: int) -> Select[*tuple[Any, ...]]:
    booked = select(func.sum(Payment.amount)).where(Payment.round_id == round_id)
    return booked.where(Payment.state != PaymentState.CANCELLED)


def _at_work(round_id: int) -> Select[*tuple[Any, ...]]:
    """Select the number of people who hold something that they were handed lately and have not sent."""
    sent = select(Example.id).where(Example.handout_id == Handout.id)
    return select(func.count(func.distinct(Handout.person_id))).where(
        Handout.round_id == round_id, Handout.at > now() - BEGUN, ~sent.exists()
    )


def refuse_unpaid_example(session: Session, person: Person, round_id: int, *, begun: bool = False) -> None:
    """Raise `Conflict` where a person would write without pay in a round that pays.

    With `begun` the person was handed something before, which may be sent for `BEGUN`. One index probe in rounds that
    do not pay.
    """
    if session.scalar(queries.newest_scheme(round_id)) is None:
        return
    round_, versions = session.get_one(Round, round_id), booking.scheme_versions(session, round_id)
    newest = versions[-1].scheme
    if reason := _cap_reached(session, person, round_, newest, writing=True):
        raise errors.Conflict(reason)
    if newest.budget is None or (begun and _holds_work(session, person.id, round_id)):
        return
    if commitments(session, round_, [version.scheme for version in versions]).is_spent:
        raise errors.Conflict(
            _("The budget of this round is used up, so writing has ended. All that was accepted is paid.")
        )


def refuse_unpaid_vote(session: Session, person: Person, round_id: int) -> None:
    """Raise `Conflict` where a person's votes in a round would earn nothing since a cap of theirs is reached.

    The budget has set aside the votes of all accepted examples, so that checking goes on.
    """
    row = session.scalar(queries.newest_scheme(round_id))
    if row is None:
        return
    round_ = session.get_one(Round, round_id)
    if reason := _cap_reached(session, person, round_, parse_scheme(row.document), writing=False):
        raise errors.Conflict(reason)


def _cap_reached(session: Session, person: Person, round_: Round, scheme: Scheme, *, writing: bool) -> str:
    """Why a person's next example (or vote) would earn nothing; "" where it may."""
    caps = scheme.caps
    number = caps.examples if writing else caps.votes
    if caps.amount is None and number is None:
        return ""
    earned = booking.entitlements_of(session, round_, person.id)
    if caps.amount is not None and sum(part.amount.minor for part in earned) >= scheme.minor(caps.amount):
        return _(
            "You have earned the most that this round pays one person, %(amount)s. Further work would not be paid.",
            amount=str(Money(scheme.minor(caps.amount), scheme.currency)),
        )
    start = "example:" if writing else "vote:"
    if number is not None and sum(part.item.startswith(start) for part in earned) >= number:
        if writing:
            return _("You have written the %(n)s examples that this round pays one person for.", n=f"{number:,}")
        return _("You have cast the %(n)s votes that this round pays one person for.", n=f"{number:,}")
    return ""


def _holds_work(session: Session, person_id: int, round_id: int) -> bool:
    latest = select(func.max(Handout.at)).where(Handout.round_id == round_id, Handout.person_id == person_id)
    moment = session.scalar(latest)
    return moment is not None and now() - moment < BEGUN
