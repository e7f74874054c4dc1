"""Asking for archives, and for tasks that are made of them."""

import re
from pathlib import Path
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets.archives import reading
from dynabench.kit import errors, jobs
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import printable
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import proposals, service
from dynabench.rounds.proposals import Mode
from dynabench.rounds.tables import Task

EXPORT, IMPORT = "export_task", "import_task"
LISTED, LOOKED_THROUGH = 20, 500
NAME = re.compile(r"[a-z][a-z0-9-]{0,58}[a-z0-9]")
GONE = _("There is no such archive. They lie ready for a week.")


def file_of(settings: Settings, job_id: str) -> Path:
    """Return the path of the archive that a job writes; the file is there once the job is done."""
    folder = settings.folder / "archives"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder / f"{job_id}.zip"


def export(session: Session, person: Person, task: str, *, examples: bool = True) -> jobs.Job:
    """Ask for a task's archive (owners)."""
    service.require(session, person, Action.ARCHIVE_TASK, task)
    job = jobs.enqueue(session, EXPORT, {"task": task, "examples": examples}, person.id)
    service.act(session, person, "task.exported", task=task, examples=examples)
    return job


def check_id(session: Session, person: Person, mode: Mode, id: str) -> None:
    """Check that `person` may create the task `id` from an archive.

    Raise `Forbidden` if the person may not create tasks, `Invalid` if the id cannot be used.
    """
    if not proposals.creates(person, mode):
        raise errors.Forbidden(
            _("New tasks need an admin's word here. Ask one to bring it in and to make you its owner.")
        )
    if id in service.RESERVED or not NAME.fullmatch(id):
        raise errors.Invalid({"id": _("Use 2 to 60 lower-case letters, digits and hyphens, a letter first.")})
    if session.get(Task, id) is not None:
        raise errors.Invalid({"id": _("There is a task %(id)s already. Choose another name.", id=id)})


def clone(session: Session, person: Person, mode: Mode, task: str, id: str) -> jobs.Job:
    """Ask for another task with the newest config, the contexts and the seeds of one that `person` owns."""
    service.require(session, person, Action.ARCHIVE_TASK, task)
    check_id(session, person, mode, id)
    return jobs.enqueue(session, IMPORT, {"task": id, "of": task, "name": task}, person.id)


def bring(session: Session, person: Person, mode: Mode, id: str, path: Path, name: str) -> jobs.Job:
    """Ask for the task `id` to be made of the stored archive at `path`, which was called `name`."""
    check_id(session, person, mode, id)
    payload = {"task": id, "file": str(path), "name": printable(name)}
    return jobs.enqueue(session, IMPORT, payload, person.id)


def look(path: Path) -> None:
    """Refuse at once what is no archive; whether all of it holds is the job's to find out."""
    with reading.opened(path):
        pass


def job_of(session: Session, person: Person, id: UUID) -> jobs.Job:
    """A job of archives: of the task's owners where it writes one, else of who asked; admins see all."""
    found = session.get(jobs.Job, str(id))
    if found is None or found.kind not in (EXPORT, IMPORT):
        raise errors.NotFound(GONE)
    mine = may.may(person, Action.SEE_IMPORT, author=found.person_id)
    if found.kind == EXPORT:
        mine = may.may_in(session, person, Action.ARCHIVE_TASK, found.payload["task"])
    if not mine:
        raise errors.NotFound(GONE)
    return found


def listed(session: Session, task: str) -> list[jobs.Job]:
    """A task's newest archives."""
    found = select(jobs.Job).where(jobs.Job.kind == EXPORT).order_by(jobs.Job.created_at.desc()).limit(LOOKED_THROUGH)
    return [each for each in session.scalars(found) if each.payload.get("task") == task][:LISTED]


def brought(session: Session, person: Person) -> list[jobs.Job]:
    """The archives that somebody brought in, and their clones, newest first."""
    mine = (jobs.Job.kind == IMPORT, jobs.Job.person_id == person.id)
    return list(session.scalars(select(jobs.Job).where(*mine).order_by(jobs.Job.created_at.desc()).limit(LISTED)))


def ready(settings: Settings, job: jobs.Job) -> Path:
    """The file that a job has written; `Conflict` where there is none yet, or not any more."""
    place = file_of(settings, job.id)
    if job.kind != EXPORT or not place.is_file():
        raise errors.Conflict(_("This archive is not written yet, or was thrown away after a week. Ask for another."))
    return place
