"""Bonuses: payouts of the ledger that a platform pays, each exactly once.

An order takes the approved payments of a study's workers. Each step is committed before the next begins, and the one
call that must not be repeated is allowed by a single change of state: `sent`. Whether it arrived is read from the
platform's books afterwards, on each submission. A platform that knows bonuses by a key of ours is asked again for those
that its books do not show. What cannot be decided in half an hour is for the owner to decide.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, cast

from sqlalchemy import CursorResult, select, update
from sqlalchemy.orm import Session

from dynabench.crowd import accounts, entry, lifecycle, queries, studies
from dynabench.crowd.lifecycle import StudyCall
from dynabench.crowd.provider import BonusTransfer, CrowdAccount
from dynabench.crowd.tables import BonusOrder, BonusOrderState, Participation, Study
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.pay import ledger
from dynabench.pay.queries import claimable_payments
from dynabench.pay.tables import Payout, PayoutState
from dynabench.people.accounts.tables import Person
from dynabench.rounds import service as rounds

JOB = "pay_bonuses"
UNDECIDED_AFTER = timedelta(minutes=30)
"""Time after which an order whose payment does not show at the platform is for the owner to decide."""
OPEN_STATES = (
    BonusOrderState.CLAIMED,
    BonusOrderState.SET_UP,
    BonusOrderState.SENT,
    BonusOrderState.UNDECIDED,
)


@dataclass(frozen=True)
class OrderCall:
    """An order with the transfers that are not settled yet, and what its calls need."""

    state: BonusOrderState
    external_id: str
    before: Mapping[str, list[int]]
    transfers: tuple[BonusTransfer, ...]
    call: StudyCall


def begin_order(session: Session, owner: Person | None, task_id: str, study_id: int) -> BonusOrder | None:
    """Claim what the ledger has approved for a study's workers and ask for a job that pays it; None where nothing is.

    One order of a platform's account is under way at a time, since bonuses must not be paid side by side there; also
    where several tasks have the same account.
    """
    study = studies.owned_study(session, owner, task_id, study_id, change=True)
    if not studies.provider_of(study).credential_fields:
        raise errors.Conflict(_("This panel is paid by hand: pay there, then mark the payments as paid."))
    credentials = session.scalars(queries.credentials(task_id, study.provider)).first()
    tasks = {task_id, *(session.scalars(queries.tasks_of_account(credentials)) if credentials else ())}
    siblings = select(Study.id).where(Study.task_id.in_(tasks), Study.provider == study.provider)
    for locked in session.scalars(siblings.order_by(Study.id).with_for_update()):
        if session.scalar(
            select(BonusOrder.id).where(BonusOrder.study_id == locked, BonusOrder.state.in_(OPEN_STATES))
        ):
            raise errors.Conflict(_("Bonuses are being paid already. Wait until they are settled."))
    order = claim_payments(session, owner, study)
    if order is not None:
        jobs.enqueue(session, JOB, {"order": order.id}, owner.id if owner else None)
    return order


def claim_payments(session: Session, owner: Person | None, study: Study, **values: Any) -> BonusOrder | None:
    """Make an order with these `values` of all approved payments of a study's workers; None where there are none."""
    people = session.scalars(queries.people_of(study.id)).all()
    payouts = ledger.claim_payments(session, study.round_id, people, reason=study.name)
    if not payouts:
        return None
    order = BonusOrder(study_id=study.id, payouts=[payout.id for payout in payouts], **values)
    session.add(order)
    session.flush()
    rounds.record_act(session, owner, "study.bonuses", task=study.task_id, study=study.id, payouts=len(payouts))
    return order


def approved_amount(session: Session, study: Study) -> int:
    """Return the sum, in minor units, of a study's payments that are approved and that no payout has claimed yet."""
    people = set(session.scalars(queries.people_of(study.id)))
    payments = session.scalars(claimable_payments(study.round_id))
    return sum(payment.amount for payment in payments if payment.person_id in people)


def read_order(session: Session, key: bytes, order_id: int) -> OrderCall:
    """Return an order with its unsettled transfers."""
    order = session.get_one(BonusOrder, order_id)
    payouts = session.scalars(
        select(Payout).where(Payout.id.in_(order.payouts), Payout.state == PayoutState.SENDING).order_by(Payout.id)
    )
    transfers = []
    for payout in payouts:
        part = session.scalars(
            select(Participation).where(
                Participation.study_id == order.study_id, Participation.person_id == payout.person_id
            )
        ).one()
        worker = entry.worker_id(key, part)
        transfers.append(
            BonusTransfer(str(payout.id), worker, part.external_session, payout.amount, payout.currency, payout.reason)
        )
    call = lifecycle.read_call(session, key, order.study_id)
    return OrderCall(BonusOrderState(order.state), order.external_id, order.before, tuple(transfers), call)


def advance_order(database: Database, settings: Settings, order_id: int) -> BonusOrderState:
    """Do the next steps of an order, as far as the platform's answers allow; returns the state that it has then."""
    order = database.read(read_order, settings.key, order_id)
    with accounts.connected(settings, order.call.provider, order.call.secrets) as account:
        if account is None:
            raise errors.Conflict(_("Connect the platform's account again to pay these bonuses."))
        if order.state is BonusOrderState.CLAIMED:
            _set_up(database, order_id, order, account)
        if database.write(_take_turn, order_id):  # committed: from here on nobody asks a second time
            refused = _ask(database, settings, order_id, account)
            state = _settle(database, settings, order_id, account)
            return database.write(_refuse_some, order_id, refused) if refused else state
        state = _settle(database, settings, order_id, account)
        if state is BonusOrderState.SENT and order.call.provider.repeats_bonuses:
            # What is refused now may be refused because an earlier call paid it: only the books say that it was not.
            _ask(database, settings, order_id, account)
            state = _settle(database, settings, order_id, account)
        return state


def _set_up(database: Database, order_id: int, order: OrderCall, account: CrowdAccount) -> None:
    provider, facts = order.call.provider, order.call.facts
    before = {
        transfer.session: list(provider.paid_bonuses(account, facts, transfer.session)) for transfer in order.transfers
    }
    try:
        external_id = provider.set_up_bonuses(account, facts, order.transfers)
    except errors.Conflict as problem:
        database.write(_refuse, order_id, problem.detail)
        return
    values = {"external_id": external_id, "before": before, "state": BonusOrderState.SET_UP}
    database.write(_change, order_id, BonusOrderState.CLAIMED, values)


def _change(session: Session, order_id: int, state: BonusOrderState, values: Mapping[str, Any]) -> bool:
    statement = update(BonusOrder).where(BonusOrder.id == order_id, BonusOrder.state == state).values(**values)
    return bool(cast(CursorResult[Any], session.execute(statement)).rowcount)


def _take_turn(session: Session, order_id: int) -> bool:
    values = {"state": BonusOrderState.SENT, "asked_at": now()}
    return _change(session, order_id, BonusOrderState.SET_UP, values)


def _ask(database: Database, settings: Settings, order_id: int, account: CrowdAccount) -> Mapping[str, str]:
    """Let the platform pay what is not settled; returns the reasons of single bonuses that it refused."""
    order = database.read(read_order, settings.key, order_id)
    try:
        return order.call.provider.pay_bonuses(account, order.call.facts, order.external_id, order.transfers)
    except errors.Conflict as problem:  # refused in so many words: nothing was paid
        database.write(_refuse, order_id, problem.detail)
    except errors.Unavailable:
        pass  # whether it was paid is read from the platform's books
    return {}


def _refuse(session: Session, order_id: int, problem: str) -> None:
    order = session.get_one(BonusOrder, order_id, with_for_update=True)
    for payout_id in order.payouts:
        ledger.record_failed(session, payout_id, problem)
    order.state, order.problem = BonusOrderState.REFUSED, problem


def _refuse_some(session: Session, order_id: int, refused: Mapping[str, str]) -> BonusOrderState:
    order = session.get_one(BonusOrder, order_id, with_for_update=True)
    for key, problem in refused.items():
        if session.get_one(Payout, int(key)).state == PayoutState.SENDING:
            ledger.record_failed(session, int(key), problem)
            order.problem = problem
    states = set(session.scalars(select(Payout.state).where(Payout.id.in_(order.payouts))))
    if PayoutState.SENDING not in states:
        order.state = BonusOrderState.PAID if PayoutState.PAID in states else BonusOrderState.REFUSED
    return BonusOrderState(order.state)


def _settle(database: Database, settings: Settings, order_id: int, account: CrowdAccount) -> BonusOrderState:
    order = database.read(read_order, settings.key, order_id)
    if order.state not in (BonusOrderState.SENT, BonusOrderState.UNDECIDED):
        return order.state
    paid = []
    for transfer in order.transfers:
        amounts = Counter(order.call.provider.paid_bonuses(account, order.call.facts, transfer.session))
        if amounts[transfer.amount] > Counter(order.before.get(transfer.session, []))[transfer.amount]:
            paid.append(int(transfer.key))
    return database.write(_record, order_id, paid)


def _record(session: Session, order_id: int, paid: list[int]) -> BonusOrderState:
    order = session.get_one(BonusOrder, order_id, with_for_update=True)
    for payout_id in paid:
        ledger.record_paid(session, payout_id, f"{order.external_id}/{payout_id}")
    unsettled_payout = session.scalar(
        select(Payout.id).where(Payout.id.in_(order.payouts), Payout.state == PayoutState.SENDING).limit(1)
    )
    if unsettled_payout is None:
        order.state = BonusOrderState.PAID
    elif order.state == BonusOrderState.SENT and order.asked_at and now() - order.asked_at > UNDECIDED_AFTER:
        order.state = BonusOrderState.UNDECIDED
    order.checked_at = now()
    return BonusOrderState(order.state)


def decide_order(
    session: Session, owner: Person | None, task_id: str, study_id: int, order_id: int, paid: bool
) -> None:
    """Settle an order that the platform's books do not decide, after its owner has looked at the platform.

    Not `paid` gives the payments back to the ledger as failed, from where they can be approved and sent again.
    """
    study = studies.owned_study(session, owner, task_id, study_id, change=True)
    order = session.get(BonusOrder, order_id, with_for_update=True)
    if order is None or order.study_id != study.id:
        raise errors.NotFound(_("This study has no such order of bonuses."))
    if order.state != BonusOrderState.UNDECIDED:
        raise errors.Conflict(_("Only an order that is undecided can be settled by hand."))
    for payout_id in order.payouts:
        if session.get_one(Payout, payout_id).state != PayoutState.SENDING:
            continue
        if paid:
            ledger.record_paid(session, payout_id, f"{order.external_id}/{payout_id}")
        else:
            ledger.record_failed(session, payout_id, str(_("The owner found that the platform did not pay.")))
    order.state = BonusOrderState.PAID if paid else BonusOrderState.REFUSED
    rounds.record_act(session, owner, "study.bonuses_decided", task=task_id, study=study.id, order=order.id, paid=paid)
