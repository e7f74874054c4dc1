"""Votes, and the places that are held for those who are about to vote."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Reservation(Base):
    """A place held for one person on one example until it is used or runs out; `mode` is `judge` or `answer`.

    A judge's place stays in the table after it ran out: who has seen the claim is never asked blind.
    """

    __tablename__ = "reservations"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True)
    mode: Mapped[str] = mapped_column(String(10))
    expires_at: Mapped[datetime]

    __table_args__ = (Index("ix_reservations_person", "person_id", "mode", "expires_at"),)


class Skip(Base):
    """Somebody passed an example on; it is not handed to them again. A skip is no vote."""

    __tablename__ = "skips"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True, index=True)
    at: Mapped[datetime] = mapped_column(default=now)


class Validation(Base):
    """One vote: `correct`, `incorrect` or `flagged`. A blind vote keeps the answer that was given."""

    __tablename__ = "validations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    vote: Mapped[str] = mapped_column(String(10))
    blind_answer: Mapped[dict[str, Any] | None]
    by_owner: Mapped[bool]
    values: Mapped[dict[str, Any]]
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index("ix_validations_person", "person_id", "example_id"),
        Index("ix_validations_at", "person_id", "at"),
    )


class Undo(Base):
    """A vote taken back within the minute; it counts no more, and its author may vote again."""

    __tablename__ = "undos"

    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now)


class Dismissal(Base):
    """A moderator found the flags on an example groundless, or wants to look again; the latest one counts."""

    __tablename__ = "dismissals"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    dismissed: Mapped[bool]
    reason: Mapped[str] = mapped_column(String(500))
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)
