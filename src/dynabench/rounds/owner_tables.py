"""Tasks that people proposed, and what owners announce to those who take part."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class ProposalState(StrEnum):
    """States of a proposed task; all but the first are final."""

    WAITING = "waiting"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"


class Proposal(Base):
    """A task that somebody wrote and an admin accepts or refuses; `state` is a `ProposalState`.

    `note` is what the proposer says of it, `reason` what the admin says.
    """

    __tablename__ = "proposals"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(String(60))
    source: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(String(1000), default="")
    state: Mapped[str] = mapped_column(String(10), default=ProposalState.WAITING)
    reason: Mapped[str] = mapped_column(String(500), default="")
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)
    decided_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_proposals_state", "state", "id"),)


class Announcement(Base):
    """A message in markdown from the owners to all participants, shown on the task's pages until a moment."""

    __tablename__ = "announcements"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    text: Mapped[str] = mapped_column(Text)
    until: Mapped[datetime]
    told: Mapped[int] = mapped_column(default=0)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (Index("ix_announcements_task", "task_id", "until"),)


class AnnouncementSeen(Base):
    """Somebody wants to see an announcement no more."""

    __tablename__ = "announcements_seen"

    announcement_id: Mapped[int] = mapped_column(ForeignKey("announcements.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)
