"""Store what owners add to examples: notes, labels, and changes of many at once."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Note(Base):
    """A note on an example, for its task's owners and moderators alone; `removed_at` once one of them took it away."""

    __tablename__ = "notes"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), index=True)
    text: Mapped[str] = mapped_column(String(1000))
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)
    removed_at: Mapped[datetime | None]


class Label(Base):
    """A word under which owners and moderators find an example again."""

    __tablename__ = "labels"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    name: Mapped[str] = mapped_column(String(40), primary_key=True)
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)


class BulkAct(Base):
    """Something that was done to many examples at once; `value` is the label, note or reason that went with it."""

    __tablename__ = "bulk_acts"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    kind: Mapped[str] = mapped_column(String(10))
    value: Mapped[str] = mapped_column(String(1000), default="")
    by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    at: Mapped[datetime] = mapped_column(default=now)
    undone_at: Mapped[datetime | None]

    __table_args__ = (Index("ix_bulk_acts_task", "task_id", "id"),)


class BulkMember(Base):
    """An example that a bulk act changed; those that were so already are not among them."""

    __tablename__ = "bulk_members"

    bulk_id: Mapped[int] = mapped_column(ForeignKey("bulk_acts.id", ondelete="CASCADE"), primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
