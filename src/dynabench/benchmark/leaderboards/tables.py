"""Boards that readers kept, frozen or with weights of their own; and what others report."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class Snapshot(Base):
    """A board as it stood: `document` has rows, weights, dataset digests, model and code versions; never changed.

    `slug` is its address, `digest` the SHA-256 of the document in canonical JSON.
    """

    __tablename__ = "snapshots"

    slug: Mapped[str] = mapped_column(String(40), primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    title: Mapped[str] = mapped_column(String(200), default="")
    document: Mapped[dict[str, Any]]
    digest: Mapped[str] = mapped_column(String(64))
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    made_at: Mapped[datetime] = mapped_column(default=now)


class Fork(Base):
    """Weights and a choice of datasets under a name; the board under it is always the current one."""

    __tablename__ = "forks"

    slug: Mapped[str] = mapped_column(String(40), primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    title: Mapped[str] = mapped_column(String(200))
    note: Mapped[str] = mapped_column(String(1000), default="")
    weights: Mapped[dict[str, Any]]
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    made_at: Mapped[datetime] = mapped_column(default=now)


class Report(Base):
    """Results that others report, as an owner brought them from `source`: measured by others, never ranked here.

    `document` has `results` (`outside.ExternalResult` each) and, of the `left_out` results that could not be read, the
    first lines of why. `digest` is the SHA-256 of the file. What was taken back has a `removed_at`.
    """

    __tablename__ = "reports"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), index=True)
    form: Mapped[str] = mapped_column(String(20))
    source: Mapped[str] = mapped_column(String(520))
    document: Mapped[dict[str, Any]]
    left_out: Mapped[int] = mapped_column(default=0)
    digest: Mapped[str] = mapped_column(String(64))
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    made_at: Mapped[datetime] = mapped_column(default=now)
    removed_at: Mapped[datetime | None]
