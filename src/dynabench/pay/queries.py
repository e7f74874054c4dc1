"""Selects of the ledger of payments."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Select, and_, case, func, or_, select

from dynabench.collection.tables import Standing
from dynabench.pay.tables import Payment, PaymentState, PayScheme
from dynabench.stats.verdict import Verdict
from dynabench.validation.controls.tables import ControlAnswer
from dynabench.validation.tables import Undo, Validation


def claimable_payments(round_id: int) -> Select[Payment]:
    """Select the approved payments of a round, in one order for all who lock them.

    Corrections downwards are among them as soon as they are due: to pay less needs no approval.
    """
    lowering = and_(Payment.state.in_([PaymentState.DUE, PaymentState.PREAPPROVED]), Payment.amount < 0)
    statement = select(Payment).where(Payment.round_id == round_id)
    return statement.where(or_(Payment.state == PaymentState.APPROVED, lowering)).order_by(Payment.id)


def payments_of_payout(payout_id: int) -> Select[Payment]:
    """Select the payments that a payout is made of."""
    return select(Payment).where(Payment.payout_id == payout_id).order_by(Payment.id)


def payments_of_people(round_id: int, person_ids: Collection[int]) -> Select[Payment]:
    """Select the payments of people in a round."""
    statement = select(Payment).where(Payment.round_id == round_id, Payment.person_id.in_(person_ids))
    return statement.order_by(Payment.id)


def schemes_of_round(round_id: int) -> Select[PayScheme]:
    """Select the versions of a round's payment scheme, oldest first."""
    return select(PayScheme).where(PayScheme.round_id == round_id).order_by(PayScheme.number)


def newest_scheme(round_id: int) -> Select[PayScheme]:
    """Select the newest version of a round's payment scheme."""
    return select(PayScheme).where(PayScheme.round_id == round_id).order_by(PayScheme.number.desc()).limit(1)


def standing_sums(round_id: int) -> Select[*tuple[Any, ...]]:
    """Select counts of a round's examples that change with each of them, with verdicts, and with withdrawals."""

    def count(condition: Any) -> Any:
        return func.sum(case((condition, Standing.example_id), else_=0))

    return select(
        func.count(),
        func.max(Standing.example_id),
        count(Standing.verdict == Verdict.CORRECT),
        count(Standing.verdict == Verdict.INCORRECT),
        count(Standing.verdict == Verdict.FLAGGED),
        count(Standing.fooled),
        count(Standing.retracted),
        count(Standing.hidden),
        func.sum(Standing.blind),
        func.sum(Standing.blind_right),
        func.sum(Standing.targets_right),
    ).where(Standing.round_id == round_id)


def vote_sums(round_id: int) -> Select[*tuple[Any, ...]]:
    """Select counts of a round's votes, and answers to controls, that change with each of them and with each undo."""
    controls = func.count(ControlAnswer.validation_id)
    undone = (func.count(Undo.validation_id), func.sum(Undo.validation_id))
    return (
        select(func.count(), func.max(Validation.id), *undone, controls)
        .select_from(Validation)
        .join(Standing, Standing.example_id == Validation.example_id)
        .outerjoin(Undo, Undo.validation_id == Validation.id)
        .outerjoin(ControlAnswer, and_(ControlAnswer.validation_id == Validation.id, ~ControlAnswer.taken_back))
        .where(Standing.round_id == round_id)
    )
