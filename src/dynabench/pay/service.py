"""Schemes, and the owners' decisions on payments: approve, hold, cancel, pay by hand, try again.

Who approves more than the scheme's `approval_limit` in a round, in all, needs a second owner or administrator; nobody
approves a payment to themselves.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.pay import ledger, queries
from dynabench.pay.money import Money
from dynabench.pay.scheme import Scheme, parse_scheme
from dynabench.pay.tables import Payment, PaymentState, Payout, PayScheme
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import service as notices
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round, RoundState

OPEN_STATES = (
    PaymentState.DUE,
    PaymentState.HELD,
    PaymentState.PREAPPROVED,
    PaymentState.APPROVED,
    PaymentState.FAILED,
)
"""States of payments on which an owner may still decide."""
LONGEST_REASON = 500


def scheme_of(session: Session, round_id: int) -> tuple[PayScheme, Scheme] | None:
    """Return the newest version of a round's scheme and the scheme itself; None where nothing is paid."""
    row = session.scalar(queries.newest_scheme(round_id))
    return (row, parse_scheme(row.document)) if row else None


def save_scheme(session: Session, actor: Person | None, task_id: str, number: int, scheme: Scheme) -> PayScheme:
    """Give a round a scheme, or a new version of its scheme that counts for the work from now on (owners).

    The same scheme again changes nothing. Raises `Conflict` for a released round and `Invalid` where a change would
    take away what people have been promised: another currency, lower caps or base, no guard.
    """
    round_ = _round(session, actor, task_id, number, Action.MANAGE_PAY)
    if round_.state == RoundState.RELEASED:
        raise errors.Conflict(_("This round is released. Its scheme can no longer change."))
    before = scheme_of(session, round_.id)
    document = scheme.document()
    if before and before[1].document() == document:
        return before[0]
    if before and session.scalar(select(Payment.id).where(Payment.round_id == round_.id).limit(1)) is not None:
        _refuse_worse(before[1], scheme)
    version = before[0].number + 1 if before else 1
    row = PayScheme(
        round_id=round_.id, number=version, document=document, created_by=actor.id if actor else None, created_at=now()
    )
    session.add(row)
    session.flush()
    rounds.record_act(session, actor, "pay.scheme", task=task_id, round=number, version=version)
    return row


def _refuse_worse(before: Scheme, after: Scheme) -> None:
    wrong: dict[str, str] = {}
    if before.currency != after.currency:
        wrong["currency"] = _("Payments are booked in %(currency)s, which cannot change.", currency=before.currency)
        raise errors.Invalid(wrong)
    promised = _("People have worked under this promise. It may be raised, and not lowered.")
    caps = (("amount", after.minor), ("examples", int), ("votes", int))
    for name, read in caps:
        old, new = getattr(before.caps, name), getattr(after.caps, name)
        if new is not None and (old is None or read(new) < read(old)):
            wrong[f"caps.{name}"] = promised
    if before.base and (after.base is None or _base_is_worse(before, after)):
        wrong["base"] = promised
    tops_up = before.guard is not None and before.guard.action == "top_up"
    if before.guard and tops_up:
        lower = after.guard is None or after.minor(after.guard.wage) < before.minor(before.guard.wage)
        if lower or (after.guard and after.guard.action != "top_up"):
            wrong["guard"] = promised
    if wrong:
        raise errors.Invalid(wrong)


def _base_is_worse(before: Scheme, after: Scheme) -> bool:
    old, new = before.base, after.base
    assert old is not None
    assert new is not None
    return after.minor(new.amount) < before.minor(old.amount) or new.examples > old.examples or new.votes > old.votes


def request_booking(session: Session, round_id: int) -> bool:
    """Ask for a booking of a round's earnings in this transaction; False where it has no scheme."""
    scheme = session.scalar(queries.newest_scheme(round_id))
    if scheme is None:
        return False
    scheme.asked_at = now()
    jobs.enqueue(session, "book_earnings", {"round": round_id})
    return True


def update_now(session: Session, actor: Person | None, task_id: str, number: int) -> None:
    """Ask for a booking now (owners)."""
    round_ = _round(session, actor, task_id, number, Action.MANAGE_PAY)
    if not request_booking(session, round_.id):
        raise errors.Conflict(_("This round has no payment scheme. Set one first."))


@dataclass(frozen=True)
class Decision:
    """The result of an owner's act on payments: the number that changed, their sum, and how many wait for a second
    approval."""

    count: int
    amount: Money
    waiting: int = 0


def approve(
    session: Session, actor: Person | None, task_id: str, number: int, person_ids: Collection[int] | None = None
) -> Decision:
    """Approve what is due to people of a round, to everybody for None (owners).

    Beyond the scheme's limit they become `preapproved`; another owner's approval makes them `approved`. Payments to the
    actor, and those that the actor has approved before, stay as they are.
    """
    round_ = _round(session, actor, task_id, number, Action.APPROVE_PAYMENTS)
    _code, scheme = _scheme(session, round_)
    session.get(PayScheme, _code.id, with_for_update=True)  # approvals of a round come one after the other
    payments = [
        payment
        for payment in _locked(session, round_.id, person_ids, (PaymentState.DUE, PaymentState.PREAPPROVED))
        if actor is None or payment.person_id != actor.id
    ]
    firsts = [payment for payment in payments if payment.state == PaymentState.DUE]
    seconds = [
        payment
        for payment in payments
        if payment.state == PaymentState.PREAPPROVED and (actor is None or payment.decided_by != actor.id)
    ]
    alone = scheme.approval_limit is None or actor is None or _within_limit(session, round_.id, actor, scheme, firsts)
    for payment in firsts:
        payment.state = PaymentState.APPROVED if alone else PaymentState.PREAPPROVED
        payment.decided_by, payment.decided_at = actor.id if actor else None, now()
    for payment in seconds:
        payment.state, payment.second_by = PaymentState.APPROVED, actor.id if actor else None
    changed = firsts + seconds
    amount = Money(sum(payment.amount for payment in changed), scheme.currency)
    if changed:
        _record(session, actor, "pay.approved", round_, changed, second=len(seconds))
    return Decision(len(changed), amount, 0 if alone else len(firsts))


def _within_limit(session: Session, round_id: int, actor: Person, scheme: Scheme, payments: Sequence[Payment]) -> bool:
    """Return whether these and all that the actor has approved alone in the round stay within the limit, so that small
    parts do not get around it."""
    earlier = session.scalar(
        select(func.sum(Payment.amount)).where(
            Payment.round_id == round_id,
            Payment.decided_by == actor.id,
            Payment.second_by.is_(None),
            Payment.state.in_([PaymentState.APPROVED, PaymentState.SENDING, PaymentState.PAID, PaymentState.FAILED]),
        )
    )
    return int(earlier or 0) + sum(payment.amount for payment in payments) <= scheme.minor(scheme.approval_limit)


def hold(
    session: Session, actor: Person | None, task_id: str, number: int, person_ids: Collection[int], reason: str
) -> Decision:
    """Hold what is due to people, for a reason that they read (owners)."""
    states = (PaymentState.DUE, PaymentState.PREAPPROVED, PaymentState.APPROVED)
    return _decide(session, actor, task_id, number, person_ids, states, PaymentState.HELD, reason)


def release_hold(
    session: Session, actor: Person | None, task_id: str, number: int, person_ids: Collection[int]
) -> Decision:
    """Let payments that were held be due again (owners)."""
    states = (PaymentState.HELD,)
    return _decide(session, actor, task_id, number, person_ids, states, PaymentState.DUE, "", needs_reason=False)


def cancel(
    session: Session, actor: Person | None, task_id: str, number: int, payment_ids: Collection[int], reason: str
) -> Decision:
    """Cancel single payments for good, for a reason that the person reads (owners). They are not booked again."""
    round_ = _round(session, actor, task_id, number, Action.MANAGE_PAY)
    reason = _checked_reason(reason)
    statement = select(Payment).where(Payment.round_id == round_.id, Payment.id.in_(list(payment_ids)))
    payments = session.scalars(statement.order_by(Payment.id).with_for_update()).all()
    if len(payments) != len(set(payment_ids)):
        raise errors.NotFound(_("There is no such payment in this round."))
    if any(payment.state not in OPEN_STATES for payment in payments):
        raise errors.Conflict(_("What is paid or on its way can no longer be cancelled."))
    return _change(session, actor, round_, payments, PaymentState.CANCELLED, reason)


def try_again(session: Session, actor: Person | None, task_id: str, number: int) -> Decision:
    """Approve payments again whose payout failed (owners)."""
    states = (PaymentState.FAILED,)
    return _decide(session, actor, task_id, number, None, states, PaymentState.APPROVED, "", needs_reason=False)


def mark_paid(
    session: Session, actor: Person | None, task_id: str, number: int, person_ids: Collection[int], reference: str
) -> list[Payout]:
    """Record that the approved payments of people were paid by hand, under a reference (owners); tells them."""
    round_ = _round(session, actor, task_id, number, Action.APPROVE_PAYMENTS)
    reference = reference.strip()
    if not 0 < len(reference) <= 200:
        raise errors.Invalid({"reference": _("Give the reference of the transfer, at most 200 characters.")})
    payouts = ledger.claim_payments(session, round_.id, person_ids, reason=round_title(session, round_))
    for payout in payouts:
        ledger.record_paid(session, payout.id, reference)
        notify_paid(session, payout)
    if payouts:
        people = len(payouts)
        total = sum(payout.amount for payout in payouts)
        rounds.record_act(
            session, actor, "pay.paid", task=task_id, round=number, people=people, amount=total, reference=reference
        )
    return payouts


def round_title(session: Session, round_: Round) -> str:
    """Return the title of a round as people read it on a payout."""
    name = rounds.task_config(session, round_.task_id).name
    return f"{name}, round {round_.number}"


def notify_paid(session: Session, payout: Payout) -> None:
    """Tell a person that a payout was made; workers of a crowd platform have no notices."""
    person = session.get_one(Person, payout.person_id)
    if person.deleted_at or person.worker_task:
        return
    amount = str(Money(payout.amount, payout.currency))
    text = _("You were paid %(amount)s: %(reason)s", amount=amount, reason=payout.reason)
    notices.notify_person(session, person.id, "payment", text, link="/pay")


def _decide(
    session: Session,
    actor: Person | None,
    task_id: str,
    number: int,
    person_ids: Collection[int] | None,
    states: Sequence[PaymentState],
    state: PaymentState,
    reason: str,
    *,
    needs_reason: bool = True,
) -> Decision:
    round_ = _round(session, actor, task_id, number, Action.MANAGE_PAY)
    text = _checked_reason(reason) if needs_reason else ""
    return _change(session, actor, round_, _locked(session, round_.id, person_ids, states), state, text)


def _change(
    session: Session,
    actor: Person | None,
    round_: Round,
    payments: Sequence[Payment],
    state: PaymentState,
    reason: str,
) -> Decision:
    currency = payments[0].currency if payments else ""
    for payment in payments:
        payment.state, payment.decision = state, reason
        if state is not PaymentState.APPROVED:
            payment.decided_by, payment.decided_at, payment.second_by = actor.id if actor else None, now(), None
    if payments:
        _record(session, actor, f"pay.{state}", round_, payments, reason=reason)
    return Decision(len(payments), Money(sum(payment.amount for payment in payments), currency))


def _record(
    session: Session, actor: Person | None, kind: str, round_: Round, payments: Sequence[Payment], **more: Any
) -> None:
    by_person: dict[int, int] = defaultdict(int)
    for payment in payments:
        by_person[payment.person_id] += payment.amount
    facts: dict[str, Any] = {"task": round_.task_id, "round": round_.number, "payments": len(payments)}
    facts |= {"people": len(by_person), "amount": sum(by_person.values()), "currency": payments[0].currency}
    rounds.record_act(session, actor, kind, **facts, **more)


def _checked_reason(reason: str) -> str:
    reason = reason.strip()
    if not 0 < len(reason) <= LONGEST_REASON:
        raise errors.Invalid({"reason": _("Give a reason of at most %(longest)s characters.", longest=LONGEST_REASON)})
    return reason


def _locked(
    session: Session, round_id: int, person_ids: Collection[int] | None, states: Sequence[PaymentState]
) -> list[Payment]:
    statement = select(Payment).where(Payment.round_id == round_id, Payment.state.in_(states)).order_by(Payment.id)
    if person_ids is not None:
        statement = statement.where(Payment.person_id.in_(list(person_ids)))
    return list(session.scalars(statement.with_for_update().execution_options(populate_existing=True)))


def _round(session: Session, actor: Person | None, task_id: str, number: int, action: Action) -> Round:
    rounds.require(session, actor, action, task_id)
    return rounds.round_of(session, task_id, number)


def _scheme(session: Session, round_: Round) -> tuple[PayScheme, Scheme]:
    current = scheme_of(session, round_.id)
    if current is None:
        raise errors.Conflict(_("This round has no payment scheme. Set one first."))
    return current
