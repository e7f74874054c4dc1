"""The badges that people earned."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from dynabench.kit.db import Base, Key, now


class BadgeAward(Base):
    """A badge that a person earned, once for each `subject`: a task, a model, a week, or empty.

    `example_id` is the example that earned it, where it was a single one. `person_id` is empty where the account is
    deleted and the award must stay taken: the first person to fool a model.
    """

    __tablename__ = "badge_awards"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"))
    badge: Mapped[str] = mapped_column(String(40))
    subject: Mapped[str] = mapped_column(String(120), default="")
    example_id: Mapped[int | None] = mapped_column(ForeignKey("examples.id"), index=True)
    at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        UniqueConstraint("person_id", "badge", "subject"),
        Index("ix_badge_awards_subject", "badge", "subject"),
    )
