"""Booking of what people earned: the difference between their entitlements and the ledger, as new lines of it.

Booking may be stopped at any moment and repeated: a line's key follows from the work and from the number of lines that
are booked for it. A person's lines are locked while they are compared, so that a payout is made before or after.
"""

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from dynabench.collection.tables import Example, Standing
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.pay import ledger, queries
from dynabench.pay.entitlements import TOP_UP_AFTER, Entitlement, SchemeVersion, compute_entitlements
from dynabench.pay.money import Money
from dynabench.pay.scheme import parse_scheme
from dynabench.pay.tables import Payment, PaymentKind, PaymentState, PayScheme
from dynabench.pay.work import read_work
from dynabench.rounds.tables import Round
from dynabench.validation.tables import Validation

IMPORTED = "imported"
"""The fingerprint of a scheme that an archive brought in: its ledger is a record, from which nothing more is booked."""
OUT_OF_REACH = frozenset({PaymentState.SENDING, PaymentState.PAID})
"""States of money that has left; taking it back is an owner's decision."""


def scheme_versions(session: Session, round_id: int) -> list[SchemeVersion]:
    """Return the versions of a round's scheme by which work is paid, oldest first; none where they are imported."""
    rows = session.scalars(queries.schemes_of_round(round_id)).all()
    if any(row.fingerprint == IMPORTED for row in rows):
        return []
    return [SchemeVersion(row.created_at, parse_scheme(row.document)) for row in rows]


def entitlements_of(session: Session, round_: Round, person_id: int) -> list[Entitlement]:
    """Return what a person has earned in a round by now, booked or not."""
    versions = scheme_versions(session, round_.id)
    if not versions:
        return []
    bonuses = any(version.scheme.has_bonus for version in versions)
    work = read_work(session, round_, [person_id], bonuses=bonuses).get(person_id)
    return compute_entitlements(work, versions, now()) if work else []


def people_to_book(session: Session, round_id: int, after: int, limit: int) -> list[int]:
    """Return the ids above `after` of people who wrote or checked in a round, or have lines of its ledger."""
    wrote = select(Standing.author_id.label("id")).where(Standing.round_id == round_id)
    checked = (
        select(Validation.person_id.label("id"))
        .join(Standing, Standing.example_id == Validation.example_id)
        .where(Standing.round_id == round_id)
    )
    booked = select(Payment.person_id.label("id")).where(Payment.round_id == round_id)
    everybody = wrote.union(checked, booked).subquery()
    statement = select(everybody.c.id).where(everybody.c.id > after).order_by(everybody.c.id).limit(limit)
    return list(session.scalars(statement))


def book_people(session: Session, round_id: int, person_ids: Collection[int]) -> int:
    """Book what these people earned in a round and is not booked; return the number of new lines."""
    round_ = session.get_one(Round, round_id)
    versions = scheme_versions(session, round_id)
    if not versions or not person_ids:
        return 0
    lines: dict[int, list[Payment]] = defaultdict(list)
    locked = queries.payments_of_people(round_id, person_ids).with_for_update()
    for payment in session.scalars(locked.execution_options(populate_existing=True)):
        lines[payment.person_id].append(payment)
    bonuses = any(version.scheme.has_bonus for version in versions)
    work, at = read_work(session, round_, person_ids, bonuses=bonuses), now()
    bookings: list[dict[str, object]] = []
    for person in person_ids:
        earned = compute_entitlements(work[person], versions, at) if person in work else []
        bookings += _differences(round_id, person, earned, lines[person])
    return ledger.book_all(session, bookings)


def _differences(
    round_id: int, person: int, earned: Sequence[Entitlement], lines: Sequence[Payment]
) -> list[dict[str, object]]:
    """The lines that make the ledger of a person equal to what they earned."""
    booked: dict[str, list[Payment]] = defaultdict(list)
    for line in lines:
        if line.item:
            booked[line.item].append(line)
    by_item = {entitlement.item: entitlement for entitlement in earned}
    bookings = []
    for item in sorted({*by_item, *booked}):
        before, entitlement = booked.get(item, []), by_item.get(item)
        if any(line.state == PaymentState.CANCELLED for line in before):
            continue  # an owner has decided
        target = entitlement.amount.minor if entitlement else 0
        difference = target - sum(line.amount for line in before)
        if entitlement and not before:
            bookings.append(
                ledger.booking(round_id, person, entitlement.kind, entitlement.amount, entitlement.reason, item, item)
            )
        elif difference:
            bookings.append(_correction(round_id, person, item, difference, before))
    return bookings


def _correction(round_id: int, person: int, item: str, difference: int, before: Sequence[Payment]) -> dict[str, object]:
    currency, key = before[0].currency, f"{item}#{len(before)}"
    reason = _("Correction: %(reason)s", reason=before[0].reason)
    values = ledger.booking(round_id, person, PaymentKind.ADJUSTMENT, Money(difference, currency), reason, key, item)
    if difference < 0 and any(line.state in OUT_OF_REACH for line in before):
        values |= {
            "state": PaymentState.HELD,
            "decision": _("Already paid. Cancel it, or let it lower later pay."),
        }
    return values


def work_fingerprint(session: Session, round_id: int) -> str:
    """Return a text that changes when work in a round, a verdict or the scheme changes: three reads of the round."""
    parts = session.execute(queries.standing_sums(round_id)).one()
    votes = session.execute(queries.vote_sums(round_id)).one()
    scheme = session.scalar(select(func.max(queries.schemes_of_round(round_id).subquery().c.id)))
    state = session.get_one(Round, round_id).state
    return " ".join(map(str, (*parts, *votes, scheme, state)))


def top_up_may_fall_due(session: Session, round_id: int, scheme: PayScheme) -> bool:
    """Return whether the scheme tops up and there was work lately, so that a top-up may be due by time alone."""
    guard = parse_scheme(scheme.document).guard
    if guard is None or guard.action != "top_up":
        return False
    newest = session.scalar(select(func.max(Example.at)).where(Example.round_id == round_id))
    return newest is not None and now() - newest < 4 * TOP_UP_AFTER
