"""Jobs of studies: decisions sent to the platform, bonuses paid, submissions compared.

What is to be done is recorded first. Calls that platforms take twice without harm are simply made again after a crash;
the one that they do not, the payment of bonuses, is guarded by `crowd.bonuses`.
"""

from datetime import timedelta
from typing import Any

from dbos import DBOS
from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from dynabench.crowd import accounts, bonuses, entry, lifecycle, reconciling, rejections
from dynabench.crowd.lifecycle import StudyCall
from dynabench.crowd.participation import DECIDED, SYNC_JOB
from dynabench.crowd.provider import WorkSubmission, WorkSubmissionState
from dynabench.crowd.tables import PAID_INSTEAD, BonusOrder, Participation, ParticipationState, Study
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database, now
from dynabench.kit.settings import Settings, get_settings

AGAIN = timedelta(minutes=5)
"""Time after which a decision that has not reached its platform is sent again."""
CHECKED_EVERY = timedelta(minutes=1)
"""Time between two looks at an order of bonuses that is not settled."""


def _read(
    session: Session, key: bytes, id: int, decision: ParticipationState
) -> tuple[StudyCall, WorkSubmission, str] | None:
    participation = session.get(Participation, id)
    if participation is None or participation.state != decision:
        return None  # the owner has decided anew since, which is a job of its own
    worker = entry.worker_id(key, participation)
    submission = WorkSubmission(participation.external_session, worker, WorkSubmissionState.SUBMITTED)
    slug = session.get_one(Study, participation.study_id).slug
    return lifecycle.read_call(session, key, participation.study_id), submission, slug


def _note(session: Session, id: int, state: ParticipationState) -> None:
    participation = session.get_one(Participation, id, with_for_update=True)
    participation.synced_state, participation.synced_at = state.value, now()
    if state is ParticipationState.APPROVED:
        reconciling.settle_reward(session, participation)


def send_decision(database: Database, settings: Settings, payload: dict[str, Any]) -> None:
    """Tell the platform of one decision, note that it knows, and enter a reward that it pays into the ledger.

    Where the platform refuses to approve what it has as rejected, the ledger pays the reward.
    """
    decision = ParticipationState.APPROVED if payload["approve"] else ParticipationState.REJECTED
    read = database.read(_read, settings.key, payload["participation"], decision)
    if read is None:
        return
    call, submission, slug = read
    with accounts.connected(settings, call.provider, call.secrets) as account:
        if payload["approve"]:
            try:
                call.provider.approve(account, call.facts, submission)
            except errors.Conflict:
                if not rejections.keeps_rejection(account, call, submission):
                    raise
                database.write(rejections.pay_instead, payload["participation"])
                return
        else:
            reason = rejections.add_appeal_hint(settings, slug, payload["reason"])
            call.provider.reject(account, call.facts, submission, reason, payload["category"])
    database.write(_note, payload["participation"], decision)


@DBOS.step(name="decide_participation.send", retries_allowed=True, max_attempts=5)
def _send_decision(payload: dict[str, Any]) -> None:
    send_decision(jobs.database(), get_settings(), payload)


def decide_participation(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `participation`, whether to `approve`, `reason` and `category`."""
    _send_decision(payload)
    return {}


@DBOS.step(name="pay_bonuses.advance")
def _advance_order(order: int) -> str:
    return bonuses.advance_order(jobs.database(), get_settings(), order).value


def pay_bonuses(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `order`; what the platform has not settled yet is looked at again later."""
    return {"state": _advance_order(payload["order"])}


@DBOS.step(name="reconcile_study.compare")
def _reconcile_study(study: int) -> int:
    return reconciling.reconcile_study(jobs.database(), get_settings(), study).changed


def reconcile_study(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `study` whose submissions are compared with the platform's."""
    return {"changed": _reconcile_study(payload["study"])}


def _enqueue_unsent(session: Session) -> None:
    overdue = now() - AGAIN
    unsent = select(Participation).where(
        Participation.state.in_(DECIDED),
        Participation.synced_state != PAID_INSTEAD,
        Participation.synced_state != Participation.state,
        Participation.decided_at < overdue,
        or_(Participation.synced_at.is_(None), Participation.synced_at < overdue),
    )
    for participation in session.scalars(unsent.limit(500).with_for_update(skip_locked=True)):
        payload = {
            "participation": participation.id,
            "approve": participation.state == ParticipationState.APPROVED,
            "reason": participation.reason,
            "category": "other",
        }
        jobs.enqueue(session, SYNC_JOB, payload)
        participation.synced_at = now()


def _enqueue_orders(session: Session) -> None:
    seen_before = now() - CHECKED_EVERY
    unsettled = select(BonusOrder).where(
        BonusOrder.state.in_(bonuses.OPEN_STATES),
        BonusOrder.created_at < seen_before,
        or_(BonusOrder.checked_at.is_(None), BonusOrder.checked_at < seen_before),
    )
    for order in session.scalars(unsettled.limit(100).with_for_update(skip_locked=True)):
        order.checked_at = now()
        jobs.enqueue(session, bonuses.JOB, {"order": order.id})


def resend_decisions(database: Database, settings: Settings) -> None:
    """Go on with what has not reached its platform, for the worker's round of keepers."""
    del settings
    database.write(_enqueue_unsent)
    database.write(_enqueue_orders)
    database.write(reconciling.enqueue_due)
