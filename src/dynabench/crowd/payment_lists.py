"""Payment lists: payouts of the ledger that an owner pays by hand at a panel, each exactly once.

A list takes the approved payments of a study's workers out of the ledger's reach, so that the next list has only later
ones. The owner gives it to the panel's form for bonuses, then records which of its lines the panel has paid. The others
go back to the ledger as failed, from where they can be approved and listed again.
"""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy.orm import Session

from dynabench.crowd import bonuses, entry, queries, studies
from dynabench.crowd.tables import BonusOrder, BonusOrderState, Study
from dynabench.kit import errors
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.pay import ledger
from dynabench.pay.money import decimal_text
from dynabench.pay.tables import PayoutState
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import service as rounds

CSV_COLUMNS = ("worker", "amount", "currency", "reason", "session", "participant", "payout", "state")
LONGEST_REFERENCE = 100


@dataclass(frozen=True)
class ListedPayment:
    """One line of a payment list: a worker's id at the panel, and the amount in minor units of `currency`."""

    payout: int
    worker: str
    username: str
    session: str
    amount: int
    currency: str
    reason: str
    state: PayoutState


def begin_list(session: Session, owner: Person | None, task_id: str, study_id: int) -> BonusOrder | None:
    """Make a payment list of what the ledger has approved for a study's workers; None where nothing is approved."""
    study = studies.owned_study(session, owner, task_id, study_id, change=True)
    if studies.provider_of(study).credential_fields:
        raise errors.Conflict(_("This platform pays bonuses by itself: it needs no list."))
    return bonuses.claim_payments(session, owner, study, state=BonusOrderState.LISTED, asked_at=now())


def find_list(
    session: Session, owner: Person | None, task_id: str, study_id: int, order_id: int, *, change: bool = False
) -> tuple[Study, BonusOrder]:
    """Return a study with one of its payment lists, locked where it is about to `change`; raises `NotFound`."""
    study = studies.owned_study(session, owner, task_id, study_id, change=change)
    order = session.get(BonusOrder, order_id, with_for_update=change)
    if order is None or order.study_id != study.id or studies.provider_of(study).credential_fields:
        raise errors.NotFound(_("This study has no such payment list."))
    return study, order


def read_list(session: Session, key: bytes, order: BonusOrder) -> list[ListedPayment]:
    """Return the lines of a payment list."""
    return [
        ListedPayment(
            payout=payout.id,
            worker=entry.worker_id(key, part),
            username=person.username,
            session=part.external_session,
            amount=payout.amount,
            currency=payout.currency,
            reason=payout.reason,
            state=PayoutState(payout.state),
        )
        for payout, part, person in session.execute(queries.listed_payouts(order.study_id, order.payouts))
    ]


def record_list(
    session: Session,
    owner: Person | None,
    task_id: str,
    study_id: int,
    order_id: int,
    paid: Collection[int],
    reference: str,
) -> int:
    """Record which payouts of a list the panel has paid, under its reference; returns how many.

    The others were not paid: their payments go back to the ledger as failed.
    """
    rounds.require(session, owner, Action.APPROVE_PAYMENTS, task_id)
    study, order = find_list(session, owner, task_id, study_id, order_id, change=True)
    reference = " ".join(reference.split())
    if order.state != BonusOrderState.LISTED:
        raise errors.Conflict(_("This payment list was recorded already."))
    if not 0 < len(reference) <= LONGEST_REFERENCE:
        raise errors.Invalid(
            {"reference": _("Give the panel's reference, at most %(most)s characters.", most=LONGEST_REFERENCE)}
        )
    count = 0
    for payout_id in order.payouts:
        if payout_id in paid:
            ledger.record_paid(session, payout_id, reference)
            count += 1
        else:
            ledger.record_failed(session, payout_id, str(_("The panel did not pay this bonus.")))
    order.state = BonusOrderState.PAID if count else BonusOrderState.REFUSED
    order.external_id, order.checked_at = reference, now()
    facts = {"order": order.id, "paid": count, "unpaid": len(order.payouts) - count, "reference": reference}
    rounds.record_act(session, owner, "study.list_recorded", task=task_id, study=study.id, **facts)
    return count


def csv_row(line: ListedPayment) -> list[object]:
    """Return one line of a payment list as a row of the CSV file, with the amount as an exact decimal."""
    amount = decimal_text(line.amount, line.currency)
    columns = (line.worker, amount, line.currency, line.reason, line.session, line.username, line.payout)
    return [*columns, line.state.value]
