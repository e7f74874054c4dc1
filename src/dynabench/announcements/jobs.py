"""Announcements as notices: a durable job, so that thousands of people keep no request waiting."""

from typing import Any

from dbos import DBOS
from sqlalchemy import Select, select, union
from sqlalchemy.orm import Session

from dynabench.announcements.service import Announcement
from dynabench.collection.tables import Example, Tally
from dynabench.kit import jobs
from dynabench.kit.db import now
from dynabench.people.accounts.tables import Person
from dynabench.people.notices import service as notices
from dynabench.people.roles import Role
from dynabench.rounds import service
from dynabench.rounds.tables import Round
from dynabench.validation.tables import Validation

SIZE = 100  # people in one transaction


def participants(task_id: str, after: int, limit: int) -> Select[int]:
    """Select people who have a role, wrote or checked in a task, by id above `after`.

    People who left are not among them.
    """
    rounds = select(Round.id).where(Round.task_id == task_id)
    examples = select(Example.id).where(Example.round_id.in_(rounds))
    checked = select(Validation.person_id).where(Validation.example_id.in_(examples))
    written = select(Tally.person_id).where(Tally.round_id.in_(rounds))
    roles = select(Role.person_id).where(Role.task_id == task_id)
    everybody = union(written, checked, roles).subquery()
    here = (Person.deleted_at.is_(None), Person.imported_as.is_(None), Person.id > after)
    return select(Person.id).where(Person.id.in_(select(everybody.c[0])), *here).order_by(Person.id).limit(limit)


def _tell(session: Session, job_id: str, id: int) -> bool:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    found = session.get(Announcement, id)
    if found is None or found.until <= now():  # ended meanwhile
        return False
    done = dict(job.done or {})
    ids = session.scalars(participants(found.task_id, done.get("last", 0), SIZE)).all()
    name = service.task_config(session, found.task_id).name
    for person in ids:
        if person != found.created_by:
            notices.notify_person(
                session, person, "announcement", f"{name}: {found.text}", link=f"/tasks/{found.task_id}"
            )
    found.told += len(ids)
    if ids:
        job.done = done | {"last": ids[-1]}
    return len(ids) == SIZE


@DBOS.step(name="tell_announcement.some", retries_allowed=True)
def some(job_id: str, id: int) -> bool:
    """Tell some more, in one transaction with the count of how far it came."""
    return jobs.database().write(_tell, job_id, id)


def tell_announcement(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `announcement`."""
    job_id = str(DBOS.workflow_id)
    while some(job_id, payload["announcement"]):
        pass
    return {}
