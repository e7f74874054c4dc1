"""Payment schemes of rounds, the ledger of payments, and payouts of what was approved.

Rows of the ledger are never changed in their amount and never deleted: a correction is another row.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, TranslatedText, now


class PaymentKind(StrEnum):
    """Reasons for a payment; an `adjustment` corrects an earlier one and may be negative."""

    BASE = "base"
    EXAMPLE = "example"
    FOOLING = "fooling"
    VOTE = "vote"
    BLIND = "blind"
    BONUS = "bonus"
    TOP_UP = "top_up"
    ADJUSTMENT = "adjustment"


class PaymentState(StrEnum):
    """States of a payment: `preapproved` waits for a second approval, `sending` is in a payout under way."""

    DUE = "due"
    HELD = "held"
    PREAPPROVED = "preapproved"
    APPROVED = "approved"
    SENDING = "sending"
    PAID = "paid"
    FAILED = "failed"
    CANCELLED = "cancelled"


class PayoutState(StrEnum):
    """States of a payout; the last two are final."""

    SENDING = "sending"
    PAID = "paid"
    FAILED = "failed"


class PayScheme(Base):
    """One version of a round's payment scheme (`pay.scheme.Scheme`); the newest counts for new work.

    Work is paid by the version that was in force when it was done. The document of a version never changes.
    `fingerprint` stands for the work up to which earnings are booked (`pay.booking.work_fingerprint`), `asked_at` is
    when booking was last asked for.
    """

    __tablename__ = "pay_schemes"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id", ondelete="CASCADE"))
    number: Mapped[int]
    document: Mapped[dict[str, Any]]
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    fingerprint: Mapped[str] = mapped_column(Text, default="")
    asked_at: Mapped[datetime | None]

    __table_args__ = (UniqueConstraint("round_id", "number"),)


class Payout(Base):
    """A sum that is sent to one person in one piece: the net of the payments that were approved and claimed.

    `amount` is in minor units and above 0. `key` is the same for each try to send it. A failed payout gives its
    payments back; another claim makes another payout. `reason` is what the person reads, `problem` why it failed.
    """

    __tablename__ = "payouts"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), index=True)
    amount: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    key: Mapped[str] = mapped_column(String(60), unique=True)
    reason: Mapped[str] = mapped_column(String(500), default="")
    state: Mapped[str] = mapped_column(String(10), default=PayoutState.SENDING)
    reference: Mapped[str] = mapped_column(String(200), default="")
    problem: Mapped[str] = mapped_column(Text, default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    settled_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_payouts_round", "round_id", "state"),)


class Payment(Base):
    """One line of the ledger: an amount that a person earned in a round, or a correction of one.

    `amount` is in minor units of `currency` and negative only for adjustments. `key` is unique: who books it again gets
    the same row. `item` names the work that it is for (`example:12`), and is shared by its corrections; "" for others.
    `decided_by` and `second_by` approved it, `decision` is the reason of a hold or a cancellation.
    """

    __tablename__ = "payments"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    kind: Mapped[str] = mapped_column(String(10))
    amount: Mapped[int] = mapped_column(BigInteger)
    currency: Mapped[str] = mapped_column(String(3))
    reason: Mapped[str] = mapped_column(TranslatedText, default="")
    item: Mapped[str] = mapped_column(String(60), default="")
    key: Mapped[str] = mapped_column(String(120), unique=True)
    state: Mapped[str] = mapped_column(String(12), default=PaymentState.DUE)
    decision: Mapped[str] = mapped_column(TranslatedText, default="")
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    decided_at: Mapped[datetime | None]
    second_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    payout_id: Mapped[int | None] = mapped_column(ForeignKey("payouts.id"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index("ix_payments_round", "round_id", "person_id", "id"),
        Index("ix_payments_state", "round_id", "state"),
        Index("ix_payments_person", "person_id", "id"),
    )
