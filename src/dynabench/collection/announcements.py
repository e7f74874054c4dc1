"""Announcements by a task's owners to those who take part.

They stand on the task's pages until a moment, and go out as notices where the owner wants that.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from dynabench.kit import errors, jobs
from dynabench.kit.db import now
from dynabench.kit.language import _
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.people.notices import webhooks
from dynabench.rounds import service
from dynabench.rounds.owner_tables import Announcement, AnnouncementSeen

LONGEST, MOST_DAYS, MOST = 2000, 90, 5
LISTED = 20


def _current(task_id: str) -> Select[Announcement]:
    """A task's announcements that are shown, newest first: one index range, nearly always empty."""
    found = select(Announcement).where(Announcement.task_id == task_id, Announcement.until > now())
    return found.order_by(Announcement.id.desc())


def shown(session: Session, person: Person | None, task_id: str) -> Sequence[Announcement]:
    """Return the announcements that a person sees on the task's pages.

    A visitor sees none. Where the task is for invited people, a person who may not join it sees none either.
    Announcements that the person has dismissed are left out.
    """
    if person is None:
        return ()
    seen = select(AnnouncementSeen.announcement_id).where(
        AnnouncementSeen.person_id == person.id, AnnouncementSeen.announcement_id == Announcement.id
    )
    found = session.scalars(_current(task_id).where(~seen.exists())).all()
    if found and service.task_config(session, task_id).annotators == "invited":
        return found if may.may_in(session, person, Action.JOIN_INVITED_TASK, task_id) else ()
    return found


def listed(session: Session, task_id: str) -> Sequence[Announcement]:
    """A task's newest announcements, shown or past."""
    of = select(Announcement).where(Announcement.task_id == task_id).order_by(Announcement.id.desc())
    return session.scalars(of.limit(LISTED)).all()


def announce(session: Session, person: Person | None, task_id: str, text: str, last: date, tell: bool) -> Announcement:
    """Announce something until the end of the day `last` (UTC); with `tell` everybody gets a notice too (owners).

    Raises `Invalid`, and `Conflict` where enough are shown.
    """
    service.require(session, person, Action.ANNOUNCE, task_id)
    text = text.strip()
    wrong = {}
    if not 0 < len(text) <= LONGEST:
        wrong["text"] = _("Write at most %(longest)s characters.", longest=f"{LONGEST:,}")
    today = now().date()
    if not today <= last <= today + timedelta(days=MOST_DAYS):
        wrong["until"] = _("Choose a day from today on, at most %(most_days)s days ahead.", most_days=MOST_DAYS)
    if wrong:
        raise errors.Invalid(wrong)
    service.task_locked(session, task_id)  # counted one at a time
    if len(session.scalars(_current(task_id)).all()) >= MOST:
        raise errors.Conflict(_("%(most)s announcements are shown already. End one first.", most=MOST))
    until = datetime.combine(last + timedelta(days=1), time(), UTC)
    made = Announcement(task_id=task_id, text=text, until=until, created_by=person.id if person else None)
    session.add(made)
    session.flush()
    service.act(session, person, "announcement.made", task=task_id, announcement=made.id, told=tell)
    if tell:
        jobs.enqueue(session, "tell_announcement", {"announcement": made.id}, made.created_by)
    page = f"/tasks/{task_id}"
    webhooks.emit_event(
        session, task_id, "announcement.made", {"task": task_id, "text": text, "until": until, "page": page}
    )
    return made


def end(session: Session, person: Person | None, task_id: str, id: int) -> None:
    """Show it no more, from now on (owners). Twice changes nothing."""
    service.require(session, person, Action.ANNOUNCE, task_id)
    found = _one(session, task_id, id)
    if found.until > now():
        found.until = now()
        service.act(session, person, "announcement.ended", task=task_id, announcement=id)


def dismiss(session: Session, person: Person, task_id: str, id: int) -> None:
    """Somebody wants to see it no more. Twice changes nothing."""
    _one(session, task_id, id)
    session.get(Person, person.id, with_for_update=True)  # of two clicks at once the second finds the first
    if session.get(AnnouncementSeen, (id, person.id)) is None:
        session.add(AnnouncementSeen(announcement_id=id, person_id=person.id))


def _one(session: Session, task_id: str, id: int) -> Announcement:
    found = session.get(Announcement, id, with_for_update=True)
    if found is None or found.task_id != task_id:
        raise errors.NotFound(_("There is no such announcement."))
    return found
