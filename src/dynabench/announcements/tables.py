"""Announcements, and who wants to see them no more."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, Text
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


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
    """A person who wants to see an announcement no more."""

    __tablename__ = "announcements_seen"

    announcement_id: Mapped[int] = mapped_column(ForeignKey("announcements.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)
