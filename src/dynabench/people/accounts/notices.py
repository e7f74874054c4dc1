"""Notices that the pages show to a person until the person has seen them.

They are warnings, bans, and results of the person's requests. `dynabench.people.notices.service.tell`
writes them.
"""

from collections.abc import Sequence

from sqlalchemy import update
from sqlalchemy.orm import Session

from dynabench.kit.db import now
from dynabench.kit.errors import NotFound
from dynabench.kit.language import _
from dynabench.people.accounts import queries, service
from dynabench.people.accounts.tables import Notice, Person

KINDS = (
    "submission",
    "evaluation",
    "dataset",
    "warning",
    "ban",
    "lifted",
    "webhook",
    "proposal",
    "announcement",
    "archive",
)


def person_and_notices(session: Session, cookie_digest: str) -> tuple[Person | None, Sequence[Notice]]:
    """Return the person logged in with the cookie of this digest, and the notices they have not seen yet.

    Cost: two index probes.
    """
    person = service.person_of_session(session, cookie_digest)
    return person, () if person is None else session.scalars(queries.unseen(person.id)).all()


def recent(session: Session, person_id: int, limit: int = 50) -> Sequence[Notice]:
    """A person's notices, newest first, seen or not."""
    return session.scalars(queries.notices_of(person_id, limit)).all()


def dismiss(session: Session, person_id: int, notice_id: int) -> None:
    """Remember that a person has seen a notice; twice changes nothing."""
    notice = session.get(Notice, notice_id)
    if notice is None or notice.person_id != person_id:
        raise NotFound(_("You have no such notice."))
    session.execute(update(Notice).where(Notice.id == notice_id, Notice.seen_at.is_(None)).values(seen_at=now()))
