"""The ledger: payments are booked once, claimed once, and paid once, whatever is repeated or interrupted.

A crowd platform's code calls `claim_payments` in the transaction that records its intent, sends the payouts, and
records each result with `record_paid` or `record_failed`. Nothing here talks to a platform.
"""

import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from sqlalchemy import select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.pay import queries
from dynabench.pay.money import LARGEST, Money
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, Payout, PayoutState

ROWS_AT_ONCE = 200  # SQLite takes 32,766 values in a statement
LONGEST_REASON = 500


def booking(
    round_id: int, person_id: int, kind: PaymentKind, amount: Money, reason: str, key: str, item: str = ""
) -> dict[str, object]:
    """Return the values of a payment to book; raise ValueError where the ledger must not have it."""
    if amount.minor < 0 and kind is not PaymentKind.ADJUSTMENT:
        raise ValueError("only an adjustment may be negative")
    if amount.minor == 0 or abs(amount.minor) > LARGEST:
        raise ValueError("an amount is not 0, and not beyond what the ledger counts")
    return {
        "round_id": round_id, "person_id": person_id, "kind": str(kind), "amount": amount.minor,
        "currency": amount.currency, "reason": reason, "key": key, "item": item,
        "state": PaymentState.DUE, "decision": "", "at": now(),
    }  # fmt: skip


def book_all(session: Session, bookings: Sequence[dict[str, object]]) -> int:
    """Book payments; return how many are new. Those whose key is booked already change nothing."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    count = 0
    ordered = sorted(bookings, key=lambda values: str(values["key"]))  # so that two who book the same do not deadlock
    for first in range(0, len(ordered), ROWS_AT_ONCE):
        statement = insert(Payment).values(ordered[first : first + ROWS_AT_ONCE])
        new = session.scalars(statement.on_conflict_do_nothing(index_elements=["key"]).returning(Payment.id))
        count += len(new.all())
    return count


def book(
    session: Session,
    round_id: int,
    person_id: int,
    kind: PaymentKind,
    amount: Money,
    reason: str,
    key: str,
    item: str = "",
) -> Payment:
    """Book a payment and return it; repeated under the same key it returns the one that is there.

    Raises `Conflict` where the key stands for another payment: that is an error of the caller's.
    """
    values = booking(round_id, person_id, kind, amount, reason, key, item)
    book_all(session, [values])
    payment = session.scalars(select(Payment).where(Payment.key == key)).one()
    same = ("round_id", "person_id", "kind", "amount", "currency")
    if any(getattr(payment, name) != values[name] for name in same):
        raise errors.Conflict(_("Another payment is booked under the key %(key)s.", key=key))
    return payment


def claim_payments(
    session: Session,
    round_id: int,
    person_ids: Iterable[int] | None = None,
    *,
    kinds: Collection[PaymentKind] | None = None,
    reason: str = "",
) -> list[Payout]:
    """Turn the approved payments of people (of everybody for None) into payouts, one for each person, to be sent.

    Each payment is claimed once: what another transaction claims at the same time is not in this one's. Negative
    adjustments lower a payout; where nothing above 0 remains, nothing is claimed and they wait for later earnings.
    With `kinds` only those are claimed.
    """
    statement = queries.claimable_payments(round_id).with_for_update().execution_options(populate_existing=True)
    if person_ids is not None:
        statement = statement.where(Payment.person_id.in_(list(person_ids)))
    if kinds is not None:
        statement = statement.where(Payment.kind.in_([str(kind) for kind in kinds]))
    by_person: dict[tuple[int, str], list[Payment]] = defaultdict(list)
    for payment in session.scalars(statement):
        by_person[payment.person_id, payment.currency].append(payment)
    payouts = []
    for (person_id, currency), payments in by_person.items():
        amount = sum(payment.amount for payment in payments)
        if amount > 0:
            payouts.append(_pay_out(session, round_id, person_id, Money(amount, currency), payments, reason))
    return payouts


def _pay_out(
    session: Session, round_id: int, person_id: int, amount: Money, payments: Sequence[Payment], reason: str
) -> Payout:
    payout = Payout(
        round_id=round_id,
        person_id=person_id,
        amount=amount.minor,
        currency=amount.currency,
        key=f"payout-{secrets.token_hex(16)}",
        reason=reason[:LONGEST_REASON],
    )
    session.add(payout)
    session.flush()
    for payment in payments:
        payment.state, payment.payout_id = PaymentState.SENDING, payout.id
    session.flush()
    return payout


def record_paid(session: Session, payout_id: int, reference: str) -> Payout:
    """Record that a payout was paid under the platform's or the bank's `reference`; repeated it changes nothing.

    Raises `Conflict` where the payout failed before, or was paid under another reference.
    """
    payout = _locked_payout(session, payout_id)
    if payout.state == PayoutState.PAID and payout.reference == reference:
        return payout
    if payout.state != PayoutState.SENDING:
        raise errors.Conflict(_("This payout is already %(state)s.", state=payout.state))
    payout.state, payout.reference, payout.settled_at = PayoutState.PAID, reference[:200], now()
    for payment in session.scalars(queries.payments_of_payout(payout_id)):
        payment.state = PaymentState.PAID
    session.flush()
    return payout


def record_failed(session: Session, payout_id: int, problem: str) -> Payout:
    """Record that a payout was refused for good; its payments wait for an owner to try again. Repeatable.

    Call it only where the platform says that nothing was paid: while that is not known, a payout stays `sending`.
    """
    payout = _locked_payout(session, payout_id)
    if payout.state == PayoutState.FAILED:
        return payout
    if payout.state != PayoutState.SENDING:
        raise errors.Conflict(_("This payout is already %(state)s.", state=payout.state))
    payout.state, payout.problem, payout.settled_at = PayoutState.FAILED, problem, now()
    for payment in session.scalars(queries.payments_of_payout(payout_id)):
        payment.state, payment.payout_id = PaymentState.FAILED, None
    session.flush()
    return payout


def record_settled(session: Session, payment: Payment, reference: str) -> None:
    """Record a payment that a platform has paid by itself, such as the reward of a submission that was approved there.

    Repeated it changes nothing.
    """
    if payment.state in (PaymentState.PAID, PaymentState.SENDING):
        return
    payout = _pay_out(
        session, payment.round_id, payment.person_id, Money(payment.amount, payment.currency), [payment], payment.reason
    )
    record_paid(session, payout.id, reference)


def _locked_payout(session: Session, payout_id: int) -> Payout:
    payout = session.get(Payout, payout_id, with_for_update=True, populate_existing=True)
    if payout is None:
        raise errors.NotFound(_("There is no such payout."))
    return payout
