"""Tasks that people proposed."""

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
