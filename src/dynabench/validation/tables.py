"""Votes, and the places that are held for those who are about to vote."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, false
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
    since: Mapped[datetime | None]  # when the place was last handed out
    expires_at: Mapped[datetime]

    __table_args__ = (Index("ix_reservations_person", "person_id", "mode", "expires_at"),)


class Skip(Base):
    """A validator passed an example on; it is not handed to them again. A skip is no vote."""

    __tablename__ = "skips"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), primary_key=True, index=True)
    at: Mapped[datetime] = mapped_column(default=now)


class Validation(Base):
    """One vote: `correct`, `incorrect` or `flagged`. A blind vote keeps the answer that was given.

    `seconds` passed since the example was handed to the validator; `active_seconds` is the part of them with the page
    in sight and a key or pointer used. Both are null where that is unknown. `weight` is the log-odds that the vote adds
    to its label, where the round weighs votes (`Round.vote_weight`), else null.
    """

    __tablename__ = "validations"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"))
    vote: Mapped[str] = mapped_column(String(10))
    blind_answer: Mapped[dict[str, Any] | None]
    by_owner: Mapped[bool]
    values: Mapped[dict[str, Any]]
    seconds: Mapped[float | None]
    active_seconds: Mapped[float | None]
    weight: Mapped[float | None]
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index("ix_validations_person", "person_id", "example_id"),
        Index("ix_validations_at", "person_id", "at"),
    )


class Undo(Base):
    """A vote that counts no more: taken back by its validator within the minute, or `excluded` by an owner.

    A validator may vote again after taking a vote back. The row of an excluded vote is deleted when it counts again.
    """

    __tablename__ = "undos"

    validation_id: Mapped[int] = mapped_column(ForeignKey("validations.id"), primary_key=True)
    excluded: Mapped[bool] = mapped_column(default=False, server_default=false())
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


class VoteExclusion(Base):
    """An owner's decision on the votes that a person has cast in a task: `excluded`, or counted again.

    The job `job_id` makes verdicts follow, in rounds that are not released. Its row says how far it came.
    """

    __tablename__ = "vote_exclusions"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)
    excluded: Mapped[bool]
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    job_id: Mapped[str | None] = mapped_column(ForeignKey("jobs.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)
