"""Payments as owners and the people themselves read them: people of a round, lines of the ledger, one's own pay."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.pay import booking, queries
from dynabench.pay.earnings import Earnings, earnings_of
from dynabench.pay.entitlements import Entitlement, compute_entitlements
from dynabench.pay.hours import hourly_pay, time_on_task
from dynabench.pay.money import Money
from dynabench.pay.scheme import Scheme, parse_scheme
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, PayScheme
from dynabench.pay.work import read_work
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import queries as round_queries
from dynabench.rounds import service as rounds
from dynabench.rounds.people import public_names
from dynabench.rounds.tables import Round

LINES_LISTED = 500
KIND_NAMES: Mapping[str, str] = {
    PaymentKind.BASE: _("For taking part"),
    PaymentKind.EXAMPLE: _("Examples"),
    PaymentKind.FOOLING: _("Verified examples that fooled"),
    PaymentKind.VOTE: _("Votes"),
    PaymentKind.BLIND: _("Blind answers"),
    PaymentKind.BONUS: _("Bonuses"),
    PaymentKind.TOP_UP: _("Top-up to the least hourly pay"),
    PaymentKind.ADJUSTMENT: _("Corrections"),
}
STATE_NAMES: Mapping[str, str] = {
    PaymentState.DUE: _("due"),
    PaymentState.HELD: _("held"),
    PaymentState.PREAPPROVED: _("waiting for a second approval"),
    PaymentState.APPROVED: _("approved"),
    PaymentState.SENDING: _("being sent"),
    PaymentState.PAID: _("paid"),
    PaymentState.FAILED: _("failed"),
    PaymentState.CANCELLED: _("cancelled"),
}


@dataclass(frozen=True)
class PaidPerson:
    """A person of a round with their earnings; `is_low` where the hourly pay is below the scheme's guard."""

    person_id: int
    name: str
    earnings: Earnings
    is_low: bool

    def amount(self, *states: PaymentState) -> Money:
        """Return the sum of their payments in some states."""
        by_state = self.earnings.by_state
        return Money(sum(by_state.get(state, 0) for state in states), self.earnings.currency)


@dataclass(frozen=True)
class HourlySpread:
    """The distribution of hourly pay over people of whom enough work is known; amounts in minor units."""

    people: int
    low: int
    lowest: int
    quarter: int
    median: int
    three_quarters: int
    highest: int


def list_people(session: Session, round_: Round, scheme: Scheme) -> list[PaidPerson]:
    """Return everybody who worked in a round or has payments of it, the highest earnings first."""
    wage = scheme.minor(scheme.guard.wage) if scheme.guard else 0
    by_person = earnings_of(session, round_.id)
    names = public_names(session, by_person)
    people = []
    for person_id, earned in by_person.items():
        hourly = earned.hourly if earned.currency else hourly_pay(Money(0, scheme.currency), earned.active_seconds)
        people.append(PaidPerson(person_id, names[person_id], earned, hourly is not None and hourly.minor < wage))
    return sorted(people, key=lambda person: (-person.earnings.total.minor, person.person_id))


def spread_of(people: Sequence[PaidPerson]) -> HourlySpread | None:
    """Return the distribution of hourly pay; None without anybody whose work was measured."""
    rates = sorted(person.earnings.hourly.minor for person in people if person.earnings.hourly is not None)
    if not rates:
        return None

    def at(share: float) -> int:
        return rates[round(share * (len(rates) - 1))]

    low = sum(person.is_low for person in people)
    return HourlySpread(len(rates), low, rates[0], at(0.25), at(0.5), at(0.75), rates[-1])


def list_lines(
    session: Session,
    round_id: int,
    *,
    person_id: int | None = None,
    state: PaymentState | None = None,
    after: int = 0,
    limit: int = LINES_LISTED,
) -> list[Payment]:
    """Return lines of the ledger of a round by id, above `after`."""
    statement = select(Payment).where(Payment.round_id == round_id, Payment.id > after).order_by(Payment.id)
    if person_id is not None:
        statement = statement.where(Payment.person_id == person_id)
    if state is not None:
        statement = statement.where(Payment.state == state)
    return list(session.scalars(statement.limit(limit)))


def owned_round(session: Session, owner: Person | None, task_id: str, number: int) -> tuple[Round, Scheme | None]:
    """Return a round and its scheme for an owner, None without one; raise `Forbidden` for everybody else."""
    rounds.require(session, owner, Action.SEE_PAY, task_id)
    round_ = rounds.round_of(session, task_id, number)
    row = session.scalar(queries.newest_scheme(round_.id))
    return round_, parse_scheme(row.document) if row else None


def paying_rounds(session: Session, task_id: str) -> dict[int, bool]:
    """Return the numbers of a task's rounds, newest first, and whether each has a scheme."""
    listed = list(session.scalars(round_queries.rounds(task_id)))
    ids = select(PayScheme.round_id).where(PayScheme.round_id.in_([round_.id for round_ in listed])).distinct()
    paying = set(session.scalars(ids))
    return {round_.number: round_.id in paying for round_ in listed}


@dataclass(frozen=True)
class OwnRoundPay:
    """A person's pay in one round: the terms, all that was earned by now, the time, and the lines that are booked.

    `earned` also has what is not booked yet; it equals the total of the ledger minutes later.
    """

    task_id: str
    task_name: str
    round_number: int
    scheme: Scheme
    earned: Money
    paid: Money
    seconds: float
    by_kind: Mapping[PaymentKind, int]
    lines: Sequence[Payment] = field(default_factory=list)
    newest: datetime | None = None

    @property
    def hourly(self) -> Money | None:
        """The earnings per hour of work; None where too little work was measured."""
        return hourly_pay(self.earned, self.seconds)

    @property
    def unpaid(self) -> Money:
        """The earnings that are still to be paid."""
        return Money(self.earned.minor - self.paid.minor, self.earned.currency)


def own_round_pay(session: Session, person: Person, round_: Round, *, lines: bool = True) -> OwnRoundPay | None:
    """Return a person's pay in a round; None where the round pays nothing."""
    versions = booking.scheme_versions(session, round_.id)
    if not versions:
        return None
    scheme = versions[-1].scheme
    bonuses = any(version.scheme.has_bonus for version in versions)
    work = read_work(session, round_, [person.id], bonuses=bonuses).get(person.id)
    earned = compute_entitlements(work, versions, now()) if work else []
    listed = list_lines(session, round_.id, person_id=person.id, limit=10_000)
    by_kind = _sum_by_kind(earned, listed)
    paid = sum(line.amount for line in listed if line.state == PaymentState.PAID)
    seconds = time_on_task(session, round_.id, [person.id]).get(person.id, 0.0)
    return OwnRoundPay(
        task_id=round_.task_id,
        task_name=rounds.task_config(session, round_.task_id).name,
        round_number=round_.number,
        scheme=scheme,
        earned=Money(sum(by_kind.values()), scheme.currency),
        paid=Money(paid, scheme.currency),
        seconds=seconds,
        by_kind=by_kind,
        lines=listed[::-1][:LINES_LISTED] if lines else (),
        newest=max((line.at for line in listed), default=None),
    )


def _sum_by_kind(earned: Sequence[Entitlement], lines: Sequence[Payment]) -> Mapping[PaymentKind, int]:
    """All that was earned by kind: what work earns now, and payments that belong to no work. A cancelled payment counts
    nothing, and with it the work that it was for."""
    sums: dict[PaymentKind, int] = {}
    cancelled = {line.item for line in lines if line.item and line.state == PaymentState.CANCELLED}
    kept_items = {line.item for line in lines if line.item} & cancelled
    for part in earned:
        if part.item not in kept_items:
            sums[part.kind] = sums.get(part.kind, 0) + part.amount.minor
    for line in lines:
        if line.state != PaymentState.CANCELLED and (not line.item or line.item in kept_items):
            sums[PaymentKind(line.kind)] = sums.get(PaymentKind(line.kind), 0) + line.amount
    return sums


def own_pay(session: Session, person: Person) -> list[OwnRoundPay]:
    """Return a person's pay in all rounds that they worked in for pay or were paid in, the newest round first."""
    paying = select(PayScheme.round_id).distinct()
    listed = select(Round).where(Round.id.in_(paying)).order_by(Round.id.desc())
    if person.worker_task:
        listed = listed.where(Round.task_id == person.worker_task)
    result = []
    for round_ in session.scalars(listed):
        pay = own_round_pay(session, person, round_)
        if pay is not None and (pay.lines or pay.earned.minor or pay.seconds):
            result.append(pay)
    return result


def pay_line(session: Session, person: Person, task_id: str) -> OwnRoundPay | None:
    """Return a person's pay in the open round of a task, for the line above its pages; None where nothing is paid.

    One index probe where the round does not pay, else the person's own work in it.
    """
    round_ = session.scalar(round_queries.open_round(task_id))
    return own_round_pay(session, person, round_, lines=False) if round_ is not None else None


def count_by_state(session: Session, round_id: int) -> Mapping[PaymentState, tuple[int, int]]:
    """Return the number of payments of a round and their sum, by state."""
    statement = select(Payment.state, func.count(), func.sum(Payment.amount)).where(Payment.round_id == round_id)
    rows = session.execute(statement.group_by(Payment.state))
    return {PaymentState(state): (int(count), int(total)) for state, count, total in rows}
