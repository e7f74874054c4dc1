"""Announcements as notices: a durable job, so that thousands of people keep no request waiting.

A module of its own, since the web process loads no engine of jobs.
"""

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
from dynabench.rounds import service as rounds
from dynabench.rounds.tables import Round
from dynabench.validation.tables import Validation

SIZE = 100  # people in one transaction


def participants(task_id: str, after: int, limit: int) -> Select[int]:
    """Select people who have a role, wrote or checked in a task, by id above `after`.

    People who left are not among them.
    """
    task_rounds = select(Round.id).where(Round.task_id == task_id)
    examples = select(Example.id).where(Example.round_id.in_(task_rounds))
    checked = select(Validation.person_id).where(Validation.example_id.in_(examples))
    written = select(Tally.person_id).where(Tally.round_id.in_(task_rounds))
    roles = select(Role.person_id).where(Role.task_id == task_id)
    everybody = union(written, checked, roles).subquery()
    here = (Person.deleted_at.is_(None), Person.imported_as.is_(None), Person.id > after)
    return select(Person.id).where(Person.id.in_(select(everybody.c[0])), *here).order_by(Person.id).limit(limit)


def _tell(session: Session, job_id: str, id: int) -> bool:
    job = session.get_one(jobs.Job, job_id, with_for_update=True)
    announcement = session.get(Announcement, id)
    if announcement is None or announcement.until <= now():  # ended meanwhile
        return False
    done = dict(job.done or {})
    ids = session.scalars(participants(announcement.task_id, done.get("last", 0), SIZE)).all()
    name = rounds.task_config(session, announcement.task_id).name
    for person in ids:
        if person != announcement.created_by:
            notices.notify_person(
                session, person, "announcement", f"{name}: {announcement.text}", link=f"/tasks/{announcement.task_id}"
            )
    announcement.notified += len(ids)
    if ids:
        job.done = done | {"last": ids[-1]}
    return len(ids) == SIZE


@DBOS.step(name="tell_announcement.some", retries_allowed=True)
def tell_some(job_id: str, id: int) -> bool:
    """Tell some more, in one transaction with the count of how far it came."""
    return jobs.database().write(_tell, job_id, id)


def tell_announcement(payload: dict[str, Any]) -> dict[str, Any]:
    """The workflow: `payload` names the `announcement`."""
    job_id = str(DBOS.workflow_id)
    while tell_some(job_id, payload["announcement"]):
        pass
    return {}
