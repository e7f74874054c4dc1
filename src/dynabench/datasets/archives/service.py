"""Asking for archives, and for tasks that are made of them."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.orm import Session

from dynabench.datasets.archives import contents, layout, storing, writing
from dynabench.datasets.archives.layout import Manifest, ReadProgress
from dynabench.datasets.imports.places import ImportState
from dynabench.kit import errors, jobs
from dynabench.kit.db import Database
from dynabench.kit.language import _
from dynabench.kit.settings import Settings
from dynabench.kit.storable import printable
from dynabench.people import may
from dynabench.people.accounts.tables import Person
from dynabench.people.may import Action
from dynabench.rounds import people, proposals, service
from dynabench.rounds.proposals import Mode
from dynabench.rounds.tables import Task

EXPORT_KIND, IMPORT_KIND = "export_task", "import_task"
MOST_LISTED, LOOKED_THROUGH = 20, 500
NAME = re.compile(r"[a-z][a-z0-9-]{0,58}[a-z0-9]")
GONE = _("There is no such archive. Archives are kept for a week.")


def archive_path(settings: Settings, job_id: str) -> Path:
    """Return the path of the archive that a job writes; the file is there once the job is done."""
    folder = settings.folder / "archives"
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder / f"{job_id}.zip"


def request_export(session: Session, person: Person, task: str, *, examples: bool = True) -> jobs.Job:
    """Ask for a task's archive (owners)."""
    service.require(session, person, Action.ARCHIVE_TASK, task)
    job = jobs.enqueue(session, EXPORT_KIND, {"task": task, "examples": examples}, person.id)
    service.record_act(session, person, "task.exported", task=task, examples=examples)
    return job


def require_free_id(session: Session, person: Person, mode: Mode, id: str) -> None:
    """Check that `person` may create the task `id` from an archive.

    Raise `Forbidden` if the person may not create tasks, `Invalid` if the id cannot be used.
    """
    if not proposals.may_create_task(person, mode):
        raise errors.Forbidden(
            _("New tasks need an admin's approval here. Ask an admin to import the archive and make you its owner.")
        )
    if id in service.RESERVED or not NAME.fullmatch(id):
        raise errors.Invalid({"id": _("Use 2 to 60 lowercase letters, digits and hyphens, starting with a letter.")})
    if session.get(Task, id) is not None:
        raise errors.Invalid({"id": _("A task %(id)s already exists. Choose another name.", id=id)})


def request_clone(session: Session, person: Person, mode: Mode, task: str, id: str) -> jobs.Job:
    """Ask for another task with the newest config, the contexts and the seeds of one that `person` owns."""
    service.require(session, person, Action.ARCHIVE_TASK, task)
    require_free_id(session, person, mode, id)
    return jobs.enqueue(session, IMPORT_KIND, {"task": id, "of": task, "name": task}, person.id)


def request_import(session: Session, person: Person, mode: Mode, id: str, path: Path, name: str) -> jobs.Job:
    """Ask for the task `id` to be made of the stored archive at `path`, which was called `name`."""
    require_free_id(session, person, mode, id)
    payload = {"task": id, "file": str(path), "name": printable(name)}
    return jobs.enqueue(session, IMPORT_KIND, payload, person.id)


def check_readable(path: Path) -> None:
    """Refuse at once what is no archive; whether all of it holds is the job's to find out."""
    with layout.open_archive(path):
        pass


def archive_job(session: Session, person: Person, id: UUID) -> jobs.Job:
    """A job of archives: of the task's owners where it writes one, else of who asked; admins see all."""
    job = session.get(jobs.Job, str(id))
    if job is None or job.kind not in (EXPORT_KIND, IMPORT_KIND):
        raise errors.NotFound(GONE)
    mine = may.may(person, Action.SEE_IMPORT, author=job.person_id)
    if job.kind == EXPORT_KIND:
        mine = may.may_in(session, person, Action.ARCHIVE_TASK, job.payload["task"])
    if not mine:
        raise errors.NotFound(GONE)
    return job


def list_exports(session: Session, task: str) -> list[jobs.Job]:
    """A task's newest archives."""
    statement = (
        select(jobs.Job).where(jobs.Job.kind == EXPORT_KIND).order_by(jobs.Job.created_at.desc()).limit(LOOKED_THROUGH)
    )
    return [job for job in session.scalars(statement) if job.payload.get("task") == task][:MOST_LISTED]


def list_task_imports(session: Session, person: Person) -> list[jobs.Job]:
    """The archives that a person brought in, and their clones, newest first."""
    mine = (jobs.Job.kind == IMPORT_KIND, jobs.Job.person_id == person.id)
    return list(session.scalars(select(jobs.Job).where(*mine).order_by(jobs.Job.created_at.desc()).limit(MOST_LISTED)))


def finished_archive(settings: Settings, job: jobs.Job) -> Path:
    """The file that a job has written; `Conflict` where there is none yet, or not any more."""
    place = archive_path(settings, job.id)
    if job.kind != EXPORT_KIND or not place.is_file():
        raise errors.Conflict(_("This archive is not finished yet or was deleted after a week. Request another."))
    return place


@dataclass
class ImportedArchive:
    """The result of importing an archive: its rows by list, and the refused ones as (list, line, reason)."""

    manifest: Manifest
    refused: list[tuple[str, int, str]] = field(default_factory=list)
    notes: dict[str, int] = field(default_factory=dict)


def export_archive(
    db: Database,
    settings: Settings,
    task: str,
    file: IO[bytes],
    progress: writing.WriteProgress,
    *,
    examples: bool = True,
) -> Manifest:
    """Write a task's archive to a file."""
    return writing.write_archive(db, settings, db.read(writing.plan_archive, task, examples=examples), file, progress)


def import_archive(
    db: Database, settings: Settings, path: Path, id: str, owner: str = "", progress: ReadProgress = lambda _: None
) -> ImportedArchive:
    """Make the task `id` from an archive; `told` is called with the bytes that were read, of twice as many."""
    with layout.open_archive(path) as archive:
        checked = storing.check_archive(db, settings, archive, id, progress)

        def begin(session: Session) -> tuple[dict[str, int], int | None]:
            person: Person | None = people.person_named(session, owner) if owner else None
            return storing.create_task(
                session, person, id, checked, archive.manifest.task
            ), person.id if person else None

        round_ids, person_id = db.write(begin)
        state = ImportState(rounds=round_ids)
        result = ImportedArchive(archive.manifest)
        stored_names = contents.store_files(db, settings, archive, id, None, progress)
        result.refused += contents.store_datasets(db, settings, archive, id, person_id, stored_names, progress)
        for batch in storing.cut_batches(archive, stored_names, progress):
            bad = db.write(storing.store_batch, settings, id, batch, state, checked.names_taken)
            result.refused += [(batch.part, number, message) for number, message in bad]
    result.notes = state.notes
    return result
