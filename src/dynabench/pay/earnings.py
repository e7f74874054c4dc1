"""Earnings of people in a round, read from the ledger, with the time that they worked."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.pay.hours import hourly_pay, time_on_task
from dynabench.pay.money import Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState


@dataclass(frozen=True)
class Earnings:
    """The earnings of a person in a round: amounts in minor units by kind and by state, and the seconds of work.

    Cancelled payments are in `by_state` alone. `currency` is "" where nothing was booked.
    """

    person_id: int
    currency: str = ""
    by_kind: Mapping[PaymentKind, int] = field(default_factory=dict)
    by_state: Mapping[PaymentState, int] = field(default_factory=dict)
    active_seconds: float = 0.0

    @property
    def total(self) -> Money:
        """All that was booked and not cancelled, paid or not."""
        return Money(sum(self.by_kind.values()), self.currency)

    @property
    def paid(self) -> Money:
        """The part of it that was paid."""
        return Money(self.by_state.get(PaymentState.PAID, 0), self.currency)

    @property
    def unpaid(self) -> Money:
        """The part of it that is still to be paid."""
        return Money(self.total.minor - self.paid.minor, self.currency)

    @property
    def hourly(self) -> Money | None:
        """The total per hour of work; None where too little work was measured."""
        return hourly_pay(self.total, self.active_seconds) if self.currency else None


def earnings(session: Session, round_id: int, person_id: int) -> Earnings:
    """Return the earnings of a person in a round."""
    return earnings_of(session, round_id, [person_id]).get(person_id) or Earnings(person_id)


def earnings_of(session: Session, round_id: int, person_ids: Iterable[int] | None = None) -> Mapping[int, Earnings]:
    """Return the earnings of people in a round by person, of all who worked or were booked something for None."""
    chosen = None if person_ids is None else list(person_ids)
    statement = (
        select(Payment.person_id, Payment.currency, Payment.kind, Payment.state, func.sum(Payment.amount).label("sum"))
        .where(Payment.round_id == round_id)
        .group_by(Payment.person_id, Payment.currency, Payment.kind, Payment.state)
    )
    if chosen is not None:
        statement = statement.where(Payment.person_id.in_(chosen))
    by_kind: dict[int, dict[PaymentKind, int]] = defaultdict(lambda: defaultdict(int))
    by_state: dict[int, dict[PaymentState, int]] = defaultdict(lambda: defaultdict(int))
    currency: dict[int, str] = {}
    for row in session.execute(statement):
        kind, state = PaymentKind(row.kind), PaymentState(row.state)
        currency[row.person_id] = row.currency
        by_state[row.person_id][state] += int(row.sum)
        if state is not PaymentState.CANCELLED:
            by_kind[row.person_id][kind] += int(row.sum)
    seconds = time_on_task(session, round_id, chosen)
    return {
        person: Earnings(
            person,
            currency.get(person, ""),
            dict(by_kind[person]),
            dict(by_state[person]),
            seconds.get(person, 0.0),
        )
        for person in sorted({*currency, *seconds})
    }
