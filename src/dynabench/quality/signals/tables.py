"""Stored signals, each with the moderator's check of it."""

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class SignalKind(StrEnum):
    """Kinds of signals about an example."""

    SPEED = "speed"
    COPY = "copy"
    NEAR_DUPLICATE = "near_duplicate"
    PASTE = "paste"
    MODEL_TEXT = "model_text"
    DEVICE = "device"


class SignalState(StrEnum):
    """States of a signal: nobody has checked it, a moderator found nothing wrong, or a moderator acted."""

    OPEN = "open"
    FINE = "fine"
    ACTED = "acted"


class Signal(Base):
    """A signal about an example: its `value` is at or above the `threshold`.

    `facts` are the numbers behind the value; `other_id` is the example that it resembles, where there is one. A signal
    changes nothing else: moderators decide, and `state` holds their check with its `reason`.
    """

    __tablename__ = "signals"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), index=True)
    kind: Mapped[str] = mapped_column(String(20))
    value: Mapped[float]
    threshold: Mapped[float]
    other_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"))
    facts: Mapped[dict[str, Any]] = mapped_column(default=dict)
    at: Mapped[datetime] = mapped_column(default=now)
    state: Mapped[str] = mapped_column(String(10), default=SignalState.OPEN)
    reason: Mapped[str] = mapped_column(String(500), default="")
    checked_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    checked_at: Mapped[datetime | None]

    __table_args__ = (
        Index("uq_signals_example", "example_id", "kind", unique=True),
        Index("ix_signals_task", "task_id", "state", "id"),
    )

    @property
    def checkable(self) -> bool:
        """True until a moderator checks the signal."""
        return self.state == SignalState.OPEN


class SignalJob(Base):
    """The job that computes the signals of a task now; `job_id` is None between two jobs."""

    __tablename__ = "signal_jobs"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    job_id: Mapped[str | None] = mapped_column(String(36))
    at: Mapped[datetime | None]
