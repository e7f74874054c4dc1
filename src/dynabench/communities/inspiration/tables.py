"""The choice of a task's owners, and the examples that annotators opened before they wrote."""

from datetime import datetime
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, now


class InspirationMode(StrEnum):
    """Examples that annotators may open: none, those of released rounds, or all verified ones of the task."""

    OFF = "off"
    RELEASED = "released"
    VERIFIED = "verified"


class InspirationRule(Base):
    """The mode that a task's owners chose; tasks without a row have examples of released rounds."""

    __tablename__ = "inspiration_rules"

    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"), primary_key=True)
    mode: Mapped[str] = mapped_column(String(10))
    changed_at: Mapped[datetime] = mapped_column(default=now)


class Inspiration(Base):
    """An example that a person opened while working on a hand-out; written before it is shown."""

    __tablename__ = "inspirations"

    handout_id: Mapped[int] = mapped_column(ForeignKey("handouts.id"), primary_key=True)
    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index("ix_inspirations_round_id", "round_id"),
        Index("ix_inspirations_example_id", "example_id"),
    )
