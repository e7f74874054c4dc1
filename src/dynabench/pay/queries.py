"""Selects of the ledger of payments."""

from sqlalchemy import Select, select

from dynabench.pay.tables import Payment, PaymentState, PayScheme


def approved_payments(round_id: int) -> Select[Payment]:
    """Select the approved payments of a round, in one order for all who lock them."""
    statement = select(Payment).where(Payment.round_id == round_id, Payment.state == PaymentState.APPROVED)
    return statement.order_by(Payment.id)


def payments_of_payout(payout_id: int) -> Select[Payment]:
    """Select the payments that a payout is made of."""
    return select(Payment).where(Payment.payout_id == payout_id).order_by(Payment.id)


def schemes_of_round(round_id: int) -> Select[PayScheme]:
    """Select the versions of a round's payment scheme, oldest first."""
    return select(PayScheme).where(PayScheme.round_id == round_id).order_by(PayScheme.number)
