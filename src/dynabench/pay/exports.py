"""Tables of payments for accounting: exact decimals, one line for each payment, person or payout."""

from collections.abc import Iterator, Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.pay.money import Money, decimal_of
from dynabench.pay.reading import PaidPerson, list_lines
from dynabench.pay.tables import PaymentKind, PaymentState, Payout
from dynabench.rounds.people import public_names

PAYMENT_COLUMNS = (
    *("id", "person", "name", "kind", "amount", "currency", "state", "reason", "item", "key", "at"),
    *("decision", "decided_by", "second_by", "payout", "reference", "settled_at"),
)
PEOPLE_COLUMNS = (
    *("person", "name", "currency", *(f"{kind}" for kind in PaymentKind), "total", "paid", "unpaid", "held"),
    *("active_seconds", "hourly", "below_guard"),
)
ROWS_AT_ONCE = 1000


def payment_rows(session: Session, round_id: int) -> Iterator[Sequence[object]]:
    """Yield all lines of the ledger of a round for a CSV file, by id."""
    names: dict[int, str] = {}
    after = 0
    while page := list_lines(session, round_id, after=after, limit=ROWS_AT_ONCE):
        ids = {line.person_id for line in page} | {line.decided_by for line in page} | {line.second_by for line in page}
        names |= public_names(session, [id for id in ids if id is not None and id not in names])
        payout_ids = sorted({line.payout_id for line in page if line.payout_id is not None})
        payouts = {row.id: row for row in session.scalars(select(Payout).where(Payout.id.in_(payout_ids)))}
        for line in page:
            payout = payouts.get(line.payout_id or 0)
            yield (
                *(line.id, line.person_id, names[line.person_id], line.kind),
                *(decimal_of(line.amount, line.currency), line.currency, line.state, str(line.reason)),
                *(line.item, line.key, line.at.isoformat(timespec="seconds"), str(line.decision)),
                *(names.get(line.decided_by or 0, ""), names.get(line.second_by or 0, "")),
                *(line.payout_id or "", payout.reference if payout else ""),
                payout.settled_at.isoformat(timespec="seconds") if payout and payout.settled_at else "",
            )
        after = page[-1].id


def people_rows(people: Sequence[PaidPerson], currency: str) -> Iterator[Sequence[object]]:
    """Yield the people of a round with their earnings for a CSV file."""
    for person in people:
        earned = person.earnings
        hourly = earned.hourly
        kinds = [decimal_of(earned.by_kind.get(kind, 0), currency) for kind in PaymentKind]
        held = person.amount(PaymentState.HELD)
        yield (
            *(person.person_id, person.name, currency, *kinds),
            *(decimal_of(part.minor, currency) for part in (earned.total, earned.paid, earned.unpaid, held)),
            round(earned.active_seconds),
            hourly.decimal if hourly else "",
            "yes" if person.is_low else "",
        )


def money_text(minor: int, currency: str) -> str:
    """Return an amount in minor units as people read it; for templates."""
    return str(Money(minor, currency))
