"""Facts about how an example was written: counts of typed and pasted characters, a declaration, and the device.

The counts and the declaration are what the page of the author claims; nobody proves them. They are recorded with the
example and read later by the signals for moderators (`quality.signals`), so that nothing is computed while an author
waits.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from pydantic import Field
from sqlalchemy import ForeignKey, Index, String, text, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench.kit.db import Base, now
from dynabench.kit.schemas import StrictModel

DAYS = 90
"""Days for which a device's cookie and digest are kept."""
MOST_CHARACTERS = 1_000_000
UNCHECKED, WITH_DEVICE = text("checked_at IS NULL"), text("device IS NOT NULL")


class WritingIn(StrictModel):
    """Claims of the author's page: characters that were typed and pasted into the text fields, and the declaration.

    `model_written` is the author's answer to whether a language model wrote or rewrote a part; null where nobody asked.
    """

    typed: Annotated[int, Field(ge=0, le=MOST_CHARACTERS)] | None = None
    pasted: Annotated[int, Field(ge=0, le=MOST_CHARACTERS)] | None = None
    model_written: bool | None = None


class WritingFacts(Base):
    """Facts about how one example was written; `checked_at` is when its signals were computed.

    `device` is a keyed digest of the browser's random cookie, removed after `DAYS` days. `inspired` is true for an
    imported example whose author had opened examples of others; for those written here the exposures say it.
    """

    __tablename__ = "writing_facts"

    example_id: Mapped[int] = mapped_column(ForeignKey("examples.id"), primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id"), index=True)
    typed: Mapped[int | None]
    pasted: Mapped[int | None]
    model_written: Mapped[bool | None]
    device: Mapped[str | None] = mapped_column(String(32))
    inspired: Mapped[bool | None]
    at: Mapped[datetime] = mapped_column(default=now)
    checked_at: Mapped[datetime | None]

    __table_args__ = (
        Index(
            "ix_writing_facts_unchecked", "task_id", "example_id", postgresql_where=UNCHECKED, sqlite_where=UNCHECKED
        ),
        Index("ix_writing_facts_device", "task_id", "device"),
        Index("ix_writing_facts_device_age", "at", postgresql_where=WITH_DEVICE, sqlite_where=WITH_DEVICE),
    )


@dataclass(frozen=True)
class DraftWriting:
    """The claims about a draft and the digest of the device that sent it (empty where there is none)."""

    claims: WritingIn = field(default_factory=WritingIn)
    device: str = ""


def forget_person(session: Session, person_id: int) -> None:
    """Remove the digests of a person's devices, before their account is deleted."""
    session.execute(update(WritingFacts).where(WritingFacts.person_id == person_id).values(device=None))
