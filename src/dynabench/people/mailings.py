"""Mails that people are sent: rows that the worker turns into letters, composed by `people.notices.mailing`."""

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ForeignKey, Index, String, func, select, text
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench.kit import jobs
from dynabench.kit.db import Base, Key, now


class MailingKind(StrEnum):
    """Kinds of mails: `verify` asks whether notices may go to an address, `notices` brings them, `confirm` asks whether
    the address of an account is right, and `reset` has the link for a new password."""

    NOTICES = "notices"
    VERIFY = "verify"
    CONFIRM = "confirm"
    RESET = "reset"


class MailingState(StrEnum):
    """States of a mail: notices are added, it is on its way, or it is over; it is dropped where nobody wants it."""

    GATHERING = "gathering"
    SENDING = "sending"
    SENT = "sent"
    FAILED = "failed"
    DROPPED = "dropped"


class Mailing(Base):
    """One mail to a person, of a `MailingKind`.

    `gathering` (notices join it, one for each person), `sending`, then `sent`, `failed` or `dropped` (not wanted any
    more).
    """

    __tablename__ = "mailings"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), index=True)
    kind: Mapped[str] = mapped_column(String(10), default=MailingKind.NOTICES)
    state: Mapped[str] = mapped_column(String(10), default=MailingState.GATHERING)
    tries: Mapped[int] = mapped_column(default=0)
    reason: Mapped[str] = mapped_column(String(300), default="")
    job_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (
        Index(
            "uq_mailings_gathering",
            "person_id",
            unique=True,
            sqlite_where=text("state = 'gathering'"),
            postgresql_where=text("state = 'gathering'"),
        ),
    )


def send_mail(session: Session, person_id: int, kind: MailingKind) -> Mailing:
    """Send a mail of this kind at once, that is when the transaction ends."""
    mailing = Mailing(person_id=person_id, kind=kind, state=MailingState.SENDING)
    session.add(mailing)
    session.flush()
    enqueue_mail(session, mailing)
    return mailing


def enqueue_mail(session: Session, mailing: Mailing, seconds: float = 0) -> None:
    """Enqueue the job that sends a mail after some seconds."""
    due = now() + timedelta(seconds=seconds) if seconds else None
    mailing.job_id = jobs.enqueue(session, "send_mail", {"mailing": mailing.id}, mailing.person_id, due_at=due).id


def count_mails(session: Session, person_id: int, kind: MailingKind, since: datetime) -> int:
    """Return how many mails of a kind a person was sent since a moment."""
    chosen = (Mailing.person_id == person_id, Mailing.kind == kind, Mailing.created_at >= since)
    return session.scalar(select(func.count()).select_from(Mailing).where(*chosen)) or 0
