"""Announcements by a task's owners to those who take part.

They stand on the task's pages until a moment, and go out as notices where the owner wants that.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import ForeignKey, Index, Select, Text, delete, select, update
from sqlalchemy.orm import Mapped, Session, mapped_column

from dynabench.kit import errors, jobs
from dynabench.kit.db import Base, Key, now
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import webhooks
from dynabench.rounds import service as rounds

LONGEST, MOST_DAYS, MOST = 2000, 90, 5
LISTED = 20


class Announcement(Base):
    """A message in markdown from the owners to all participants, shown on the task's pages until a moment."""

    __tablename__ = "announcements"

    id: Mapped[int] = mapped_column(Key, primary_key=True)
    task_id: Mapped[str] = mapped_column(ForeignKey("tasks.id"))
    text: Mapped[str] = mapped_column(Text)
    until: Mapped[datetime]
    notified: Mapped[int] = mapped_column("told", default=0)
    created_by: Mapped[int | None] = mapped_column(ForeignKey("people.id", ondelete="SET NULL"))
    created_at: Mapped[datetime] = mapped_column(default=now)

    __table_args__ = (Index("ix_announcements_task", "task_id", "until"),)


class AnnouncementSeen(Base):
    """A person who wants to see an announcement no more."""

    __tablename__ = "announcements_seen"

    announcement_id: Mapped[int] = mapped_column(ForeignKey("announcements.id", ondelete="CASCADE"), primary_key=True)
    person_id: Mapped[int] = mapped_column(ForeignKey("people.id", ondelete="CASCADE"), primary_key=True, index=True)


def _current(task_id: str) -> Select[Announcement]:
    """A task's announcements that are shown, newest first: one index range, nearly always empty."""
    current = select(Announcement).where(Announcement.task_id == task_id, Announcement.until > now())
    return current.order_by(Announcement.id.desc())


def shown_announcements(session: Session, person: Person | None, task_id: str) -> Sequence[Announcement]:
    """Return the announcements that a person sees on the task's pages.

    A visitor sees none. Where the task is for invited people, a person who may not join it sees none either.
    Announcements that the person has dismissed are left out.
    """
    if person is None:
        return ()
    seen = select(AnnouncementSeen.announcement_id).where(
        AnnouncementSeen.person_id == person.id, AnnouncementSeen.announcement_id == Announcement.id
    )
    announcements = session.scalars(_current(task_id).where(~seen.exists())).all()
    if announcements and rounds.task_config(session, task_id).annotators == "invited":
        return announcements if may.may_in(session, person, Action.JOIN_INVITED_TASK, task_id) else ()
    return announcements


def newest_announcements(session: Session, task_id: str) -> Sequence[Announcement]:
    """Return a task's newest announcements, shown or past."""
    newest = select(Announcement).where(Announcement.task_id == task_id).order_by(Announcement.id.desc())
    return session.scalars(newest.limit(LISTED)).all()


def announce(session: Session, person: Person | None, task_id: str, text: str, last: date, tell: bool) -> Announcement:
    """Announce something until the end of the day `last` (UTC); with `tell` everybody gets a notice too (owners).

    Raises `Invalid`, and `Conflict` where enough are shown.
    """
    rounds.require(session, person, Action.ANNOUNCE, task_id)
    text = text.strip()
    wrong: dict[str, str] = {}
    if not 0 < len(text) <= LONGEST:
        wrong["text"] = _("Write at most %(longest)s characters.", longest=f"{LONGEST:,}")
    today = now().date()
    if not today <= last <= today + timedelta(days=MOST_DAYS):
        wrong["until"] = _("Choose a day between today and %(most_days)s days from now.", most_days=MOST_DAYS)
    if wrong:
        raise errors.Invalid(wrong)
    rounds.lock_task(session, task_id)  # counted one at a time
    if len(session.scalars(_current(task_id)).all()) >= MOST:
        raise errors.Conflict(_("There are already %(most)s announcements. End one first.", most=MOST))
    until = datetime.combine(last + timedelta(days=1), time(), UTC)
    announcement = Announcement(task_id=task_id, text=text, until=until, created_by=person.id if person else None)
    session.add(announcement)
    session.flush()
    rounds.record_act(session, person, "announcement.made", task=task_id, announcement=announcement.id, notified=tell)
    if tell:
        jobs.enqueue(session, "tell_announcement", {"announcement": announcement.id}, announcement.created_by)
    page = f"/tasks/{task_id}"
    webhooks.emit_event(
        session, task_id, "announcement.made", {"task": task_id, "text": text, "until": until, "page": page}
    )
    return announcement


def end(session: Session, person: Person | None, task_id: str, id: int) -> None:
    """Stop showing an announcement (owners). Twice changes nothing."""
    rounds.require(session, person, Action.ANNOUNCE, task_id)
    announcement = _locked(session, task_id, id)
    if announcement.until > now():
        announcement.until = now()
        rounds.record_act(session, person, "announcement.ended", task=task_id, announcement=id)


def dismiss(session: Session, person: Person, task_id: str, id: int) -> None:
    """Stop showing an announcement to a person. Twice changes nothing."""
    _locked(session, task_id, id)
    session.get(Person, person.id, with_for_update=True)  # of two clicks at once the second finds the first
    if session.get(AnnouncementSeen, (id, person.id)) is None:
        session.add(AnnouncementSeen(announcement_id=id, person_id=person.id))


def _locked(session: Session, task_id: str, id: int) -> Announcement:
    announcement = session.get(Announcement, id, with_for_update=True)
    if announcement is None or announcement.task_id != task_id:
        raise errors.NotFound(_("There is no such announcement."))
    return announcement


def forget(session: Session, person_id: int) -> None:
    """Take a person's name from the announcements that they made, and forget which they dismissed."""
    session.execute(update(Announcement).where(Announcement.created_by == person_id).values(created_by=None))
    session.execute(delete(AnnouncementSeen).where(AnnouncementSeen.person_id == person_id))
